import com.example.idsvc.resources.project.v3alpha.GetProjectRequest;
import com.example.idsvc.resources.project.v3alpha.ProjectServiceGrpc;
import com.example.idsvc.resources.user.v3alpha.SearchUsersRequest;
import com.example.idsvc.resources.user.v3alpha.UserServiceGrpc;
import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.MetadataUtils;

/** Calls the service as the owner of a token: lists the users of the instance, and reads why a call is refused. */
public final class Main {
  public static void main(String[] arguments) throws Exception {
    Metadata headers = new Metadata();
    headers.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
        "Bearer " + System.getenv("IDSVC_TOKEN"));
    // With TLS: TlsChannelCredentials.create().
    ManagedChannel channel =
        Grpc.newChannelBuilder(System.getenv("IDSVC_ADDRESS"), InsecureChannelCredentials.create())
            .intercept(MetadataUtils.newAttachHeadersInterceptor(headers))
            .build();
    try {
      // gRPC calls its generated clients stubs.
      var users = UserServiceGrpc.newBlockingStub(channel);
      var found = users.searchUsers(SearchUsersRequest.getDefaultInstance());
      for (var each : found.getResultList()) {
        System.out.println(each.getUser().getLoginNamesList());
      }

      var projects = ProjectServiceGrpc.newBlockingStub(channel);
      try {
        projects.getProject(GetProjectRequest.newBuilder().setId("unknown").build());
      } catch (StatusRuntimeException refusal) {
        for (Any detail : StatusProto.fromThrowable(refusal).getDetailsList()) {
          if (detail.is(ErrorInfo.class)) {
            System.out.println(detail.unpack(ErrorInfo.class).getReason());
          }
        }
      }
    } finally {
      channel.shutdownNow();
    }
  }
}
