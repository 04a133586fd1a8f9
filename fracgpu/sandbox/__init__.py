"""Three clouds and a Kubernetes API on loopback, for trying and testing fracgpu without an account.

`process` starts and finds the one background server of a user, `client.Control` looks at it and changes it,
`environment` has what a shell needs so that gcloud, aws and kubectl talk to it. Everything else is the server itself.
"""
