// Calls the service as the owner of a token: lists the users of the instance, and reads why a call is refused.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	project "example.com/idsvc/gen/idsvc/resources/project/v3alpha"
	user "example.com/idsvc/gen/idsvc/resources/user/v3alpha"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

func main() {
	// With TLS: credentials.NewTLS(nil).
	connection, err := grpc.NewClient(os.Getenv("IDSVC_ADDRESS"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx := metadata.AppendToOutgoingContext(context.Background(), "authorization", "Bearer "+os.Getenv("IDSVC_TOKEN"))

	found, err := user.NewUserServiceClient(connection).SearchUsers(ctx, &user.SearchUsersRequest{})
	if err != nil {
		log.Fatal(err)
	}
	for _, each := range found.GetResult() {
		fmt.Println(each.GetUser().GetLoginNames())
	}

	_, err = project.NewProjectServiceClient(connection).GetProject(ctx, &project.GetProjectRequest{Id: "unknown"})
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			fmt.Println(info.GetReason())
		}
	}
}
