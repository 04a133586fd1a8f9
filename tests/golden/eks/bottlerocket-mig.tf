resource "aws_launch_template" "gpu-br-mig" {
  name      = "fracgpu-ml-prod-gpu-br-mig"
  user_data = base64encode("[settings.kubelet-device-plugins.nvidia]\ndevice-partitioning-strategy = \"mig\"\n\n[settings.kubelet-device-plugins.nvidia.mig.profile]\n\"a100.40gb\" = \"1g.5gb\"\n")
  tags = {
    fracgpu-managed = "true"
    fracgpu-cluster = "ml-prod"
    fracgpu-pool    = "gpu-br-mig"
  }

  block_device_mappings {
    device_name = "/dev/xvdb"

    ebs {
      volume_size           = 200
      volume_type           = "gp3"
      delete_on_termination = true
    }
  }

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }
}

resource "aws_eks_node_group" "gpu-br-mig" {
  cluster_name    = "ml-prod"
  node_group_name = "gpu-br-mig"
  node_role_arn   = "arn:aws:iam::111122223333:role/EKSGpuNodeRole"
  subnet_ids      = ["subnet-0aaaaaaaaaaaaaaa1", "subnet-0bbbbbbbbbbbbbbb2"]
  instance_types  = ["p4d.24xlarge"]
  ami_type        = "BOTTLEROCKET_x86_64_NVIDIA"
  capacity_type   = "ON_DEMAND"
  labels = {
    "fracgpu.io/profile" = "1g.5gb"
  }
  tags = {
    "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu" = "56"
    fracgpu-managed                                                    = "true"
  }

  scaling_config {
    min_size     = 0
    max_size     = 4
    desired_size = 0
  }

  taint {
    key    = "nvidia.com/gpu"
    value  = "present"
    effect = "NO_SCHEDULE"
  }

  launch_template {
    name    = aws_launch_template.gpu-br-mig.name
    version = aws_launch_template.gpu-br-mig.latest_version
  }

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size]
  }
}
