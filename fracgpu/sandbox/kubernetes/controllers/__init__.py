"""What moves by itself in a cluster, one file a controller: each has `run(life, batch)` and looks at what was written.

`nodes` (with `node_body`) turns pools into nodes; `operator`, `daemonsets` and `device_plugin` (with `gpus`, `gfd` and
`plugin_config`) make them advertise; `workloads`, `scheduler`, `kubelet` and `budgets` do the rest of what pods need.
"""
