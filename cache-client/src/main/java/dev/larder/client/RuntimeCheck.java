package dev.larder.client;

import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.RawMemory;
import java.nio.ByteOrder;
import org.agrona.concurrent.UnsafeBuffer;

/** Checks when a client connects that this JVM can run it, so that it does not fail at the first read. */
final class RuntimeCheck {
    private RuntimeCheck() {}

    static void requireUsableBuffers() {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw Failure.of(ErrorCode.UNEXPECTED, "this machine is big-endian")
                    .with("arch", System.getProperty("os.arch"))
                    .remedy("use a little-endian machine, such as amd64 or aarch64");
        }
        try {
            UnsafeBuffer probe = new UnsafeBuffer(new byte[Long.BYTES]);
            probe.getLong(0);
            RawMemory.copy(0, probe.byteArray(), probe.addressOffset(), 0);
        } catch (LinkageError | UnsupportedOperationException e) {
            throw Failure.of(ErrorCode.UNEXPECTED, "the Agrona on the class path cannot read memory in this JVM")
                    .with("java", System.getProperty("java.version"))
                    .with("reason", e)
                    .cause(e)
                    .remedy(
                            "Agrona 2 needs the JVM flag --add-exports java.base/jdk.internal.misc=ALL-UNNAMED, Agrona 1.23.1"
                                    + " none up to Java 23 and --sun-misc-unsafe-memory-access=allow later");
        }
    }
}
