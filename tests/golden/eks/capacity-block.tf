resource "aws_launch_template" "block" {
  name          = "fracgpu-ml-prod-block"
  instance_type = "p6e-gb200.36xlarge"
  tags = {
    fracgpu-managed = "true"
    fracgpu-cluster = "ml-prod"
    fracgpu-pool    = "block"
  }

  metadata_options {
    http_tokens                 = "required"
    http_put_response_hop_limit = 2
  }

  capacity_reservation_specification {
    capacity_reservation_target {
      capacity_reservation_id = "cr-0123456789abcdef0"
    }
  }

  instance_market_options {
    market_type = "capacity-block"
  }
}

resource "aws_eks_node_group" "block" {
  cluster_name    = "ml-prod"
  node_group_name = "block"
  node_role_arn   = "arn:aws:iam::111122223333:role/EKSGpuNodeRole"
  subnet_ids      = ["subnet-0aaaaaaaaaaaaaaa1", "subnet-0bbbbbbbbbbbbbbb2"]
  ami_type        = "AL2023_ARM_64_NVIDIA"
  capacity_type   = "CAPACITY_BLOCK"
  tags = {
    fracgpu-managed = "true"
  }

  scaling_config {
    min_size     = 1
    max_size     = 1
    desired_size = 1
  }

  taint {
    key    = "nvidia.com/gpu"
    value  = "present"
    effect = "NO_SCHEDULE"
  }

  launch_template {
    name    = aws_launch_template.block.name
    version = aws_launch_template.block.latest_version
  }

  update_config {
    max_unavailable = 1
  }
}
