resource "aws_eks_node_group" "everything" {
  cluster_name    = "ml-prod"
  node_group_name = "everything"
  node_role_arn   = "arn:aws:iam::111122223333:role/EKSGpuNodeRole"
  subnet_ids      = ["subnet-0aaaaaaaaaaaaaaa1", "subnet-0bbbbbbbbbbbbbbb2"]
  instance_types  = ["g5.xlarge", "g5.2xlarge"]
  ami_type        = "AL2023_x86_64_NVIDIA"
  capacity_type   = "SPOT"
  disk_size       = 100
  version         = "1.34"
  release_version = "1.34.1-20260901"
  labels = {
    team                              = "vision"
    "k8s.amazonaws.com/x"             = "y"
    "nvidia.com/device-plugin.config" = "time-sliced-4-renamed-one"
  }
  tags = {
    "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu.shared" = "4"
    "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu"        = "0"
    cost                                                                      = "vision"
    Name                                                                      = "GPU nodes"
    fracgpu-managed                                                           = "true"
  }

  scaling_config {
    min_size     = 1
    max_size     = 9
    desired_size = 3
  }

  taint {
    key    = "nvidia.com/gpu"
    value  = "present"
    effect = "NO_SCHEDULE"
  }

  taint {
    key    = "old"
    value  = "true"
    effect = "PREFER_NO_SCHEDULE"
  }

  taint {
    key    = "team"
    value  = "vision"
    effect = "NO_EXECUTE"
  }

  update_config {
    max_unavailable_percentage = 30
  }

  node_repair_config {
    enabled = true
  }

  lifecycle {
    ignore_changes = [scaling_config[0].desired_size]
  }
}
