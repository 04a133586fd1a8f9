"""Everything of AWS but EKS: EC2, IAM and STS of one invented account, answered by moto in this process.

`front` speaks the query protocol, `backend` holds the account, `ec2` answers launch templates (`templates`) and
offerings (`offerings`) as EC2 does where moto does not, `signature` reads for whom a request is signed.
"""
