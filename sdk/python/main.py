"""Calls the service as the owner of a token: lists the users of the instance, and reads why a call is refused."""

import os
import sys

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "gen"))

from idsvc.resources.project.v3alpha import project_service_pb2, project_service_pb2_grpc
from idsvc.resources.user.v3alpha import user_requests_pb2, user_service_pb2_grpc

token = [("authorization", f"Bearer {os.environ['IDSVC_TOKEN']}")]

# With TLS: grpc.secure_channel(address, grpc.ssl_channel_credentials()).
with grpc.insecure_channel(os.environ["IDSVC_ADDRESS"]) as channel:
    users = user_service_pb2_grpc.UserServiceStub(channel)
    found = users.SearchUsers(user_requests_pb2.SearchUsersRequest(), metadata=token)
    for each in found.result:
        print(*each.user.login_names)

    projects = project_service_pb2_grpc.ProjectServiceStub(channel)
    try:
        projects.GetProject(project_service_pb2.GetProjectRequest(id="unknown"), metadata=token)
    except grpc.RpcError as error:
        for detail in rpc_status.from_call(error).details:
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                print(info.reason)
