resource "google_container_node_pool" "everything" {
  name               = "everything"
  cluster            = "regional-prod"
  project            = "acme"
  location           = "us-central1"
  node_locations     = ["us-central1-a"]
  initial_node_count = 2
  max_pods_per_node  = 64
  version            = "1.35"

  autoscaling {
    total_min_node_count = 0
    total_max_node_count = 5
    location_policy      = "BALANCED"
  }

  management {
    auto_repair  = false
    auto_upgrade = false
  }

  upgrade_settings {
    max_surge       = 0
    max_unavailable = 2
  }

  node_config {
    machine_type    = "a2-highgpu-4g"
    disk_size_gb    = 300
    disk_type       = "pd-ssd"
    image_type      = "UBUNTU_CONTAINERD"
    service_account = "nodes@acme.iam.gserviceaccount.com"
    oauth_scopes    = ["https://www.googleapis.com/auth/cloud-platform"]
    tags            = ["gpu", "web"]
    labels = {
      team               = "vision"
      "example.com/tier" = "a"
    }
    resource_labels = {
      cost            = "42"
      owner           = "ml"
      fracgpu-managed = "true"
    }
    metadata = {
      disable-legacy-endpoints = "true"
    }

    guest_accelerator {
      type               = "nvidia-tesla-a100"
      count              = 4
      gpu_partition_size = "3g.20gb"

      gpu_sharing_config {
        gpu_sharing_strategy       = "MPS"
        max_shared_clients_per_gpu = 3
      }

      gpu_driver_installation_config {
        gpu_driver_version = "LATEST"
      }
    }

    taint {
      key    = "nvidia.com/gpu"
      value  = "present"
      effect = "NO_SCHEDULE"
    }

    taint {
      key    = "soft"
      value  = "x"
      effect = "PREFER_NO_SCHEDULE"
    }

    taint {
      key    = "team"
      value  = "vision"
      effect = "NO_EXECUTE"
    }

    reservation_affinity {
      consume_reservation_type = "SPECIFIC_RESERVATION"
      key                      = "compute.googleapis.com/reservation-name"
      values                   = ["a100s"]
    }

    gvnic {
      enabled = true
    }
  }

  lifecycle {
    ignore_changes = [initial_node_count]
  }
}
