resource "google_container_node_pool" "mig-spot-zones" {
  name               = "mig-spot-zones"
  cluster            = "regional-prod"
  project            = "acme"
  location           = "us-central1"
  node_locations     = ["us-central1-a", "us-central1-c"]
  initial_node_count = 1

  autoscaling {
    total_min_node_count = 2
    total_max_node_count = 10
    location_policy      = "ANY"
  }

  management {
    auto_repair  = true
    auto_upgrade = true
  }

  upgrade_settings {
    max_surge       = 1
    max_unavailable = 0
  }

  node_config {
    machine_type = "a2-ultragpu-2g"
    spot         = true
    disk_size_gb = 200
    oauth_scopes = [
      "https://www.googleapis.com/auth/devstorage.read_only",
      "https://www.googleapis.com/auth/logging.write",
      "https://www.googleapis.com/auth/monitoring",
      "https://www.googleapis.com/auth/service.management.readonly",
      "https://www.googleapis.com/auth/servicecontrol",
      "https://www.googleapis.com/auth/trace.append",
    ]
    labels = {
      team = "vision"
    }
    resource_labels = {
      cost            = "42"
      fracgpu-managed = "true"
    }
    metadata = {
      disable-legacy-endpoints = "true"
    }

    guest_accelerator {
      type               = "nvidia-a100-80gb"
      count              = 2
      gpu_partition_size = "2g.20gb"

      gpu_driver_installation_config {
        gpu_driver_version = "DEFAULT"
      }
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }
  }

  lifecycle {
    ignore_changes = [initial_node_count]
  }
}
