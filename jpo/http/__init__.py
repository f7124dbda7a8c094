"""Servers that are asked over HTTP, and what is quoted of their answers, those of AWS and Kubernetes included.

endpoint.py  Endpoint: address, credentials, deadline
session.py   GuardedSession: deadline, retries, redirects, size; the only user of requests
answers.py   what becomes of an answer: accepted, or trouble of some kind
quoting.py   what a server says, in one line and without the secrets that it was sent
tls.py       certificates
aws.py       sessions of boto3, and signed requests
"""
