"""EKS as the AWS CLI and boto3 expect it.

`front` has the routes, `call` one request; `clusters`, `groups`, `updates` and `tags` the calls; `checks`, `templates`,
`capacity` and `errors` what is refused and how; `life` how work goes on and ends; `releases` AMIs and versions; `shape`
what a group's nodes are, from its `cards`, `userdata` and `bottlerocket` settings.
"""
