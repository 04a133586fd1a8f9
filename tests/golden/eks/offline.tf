resource "aws_eks_node_group" "gpu-shared" {
  cluster_name    = "ml-prod"
  node_group_name = "gpu-shared"
  node_role_arn   = var.gpu-shared_node_role_arn
  subnet_ids      = data.aws_eks_cluster.gpu-shared.vpc_config[0].subnet_ids
  instance_types  = ["g5.xlarge"]
  ami_type        = "AL2023_x86_64_NVIDIA"
  capacity_type   = "ON_DEMAND"
  labels = {
    "nvidia.com/device-plugin.config" = "time-sliced-4"
  }
  tags = {
    "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu" = "4"
    fracgpu-managed                                                    = "true"
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
}

variable "gpu-shared_node_role_arn" {
  type        = string
  description = "ARN of the IAM role of the nodes of gpu-shared"
}

data "aws_eks_cluster" "gpu-shared" {
  name = "ml-prod"
}
