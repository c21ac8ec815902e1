package dev.larder.readers.s3;

import java.net.URI;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;

/**
 * Serves the folders of a folder as buckets, in a process of its own, until its input ends: FOLDER USER SECRET; an empty user for
 * everybody.
 */
final class S3Server {
    /** What its line begins with, before the port. */
    static final String PORT = "port ";

    private S3Server() {}

    /** Runs it. */
    public static void main(String[] args) throws Exception {
        S3Proxy server = S3Proxy.builder()
                .blobStore(new FilesystemNio2BlobStore(args[0]))
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(
                        args[1].isEmpty() ? AuthenticationType.NONE : AuthenticationType.AWS_V4, args[1], args[2])
                .build();
        server.start();
        System.out.println(PORT + server.getPort());
        while (System.in.read() >= 0) {
            Thread.onSpinWait();
        }
        Runtime.getRuntime().halt(0);
    }
}
