package dev.larder.loader.fanout;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A consumer in Python, with the larder of this checkout. */
final class PythonConsumer implements AutoCloseable {
    private static final long PATIENCE_S = 60;
    private static final String WAITING_IS_FINE = "ignore:waiting for at most";
    private static final String READ = """
            import sys, zlib, time, numpy, larder
            count, total = 0, 0
            try:
                for batch in larder.batches("run1", timeout=60, copy=%s):
                    assert not any(array.flags.writeable for array in batch.values()) or %s
                    for array in batch.values():
                        total = zlib.crc32(array, total)
                    assert batch["images"].shape[0] == batch.size
                    count += 1
            except larder.LarderError as e:
                print(f"after {count}: {e}")
            else:
                print(f"{count} {total:08x}")
            """;

    private final Process process;

    private PythonConsumer(Process process) {
        this.process = process;
    }

    /** Starts one that prints how many batches it saw and their CRC-32, which is not the one that the loader has. */
    static PythonConsumer start(String store, boolean copies) {
        String flag = copies ? "True" : "False";
        ProcessBuilder builder = new ProcessBuilder(
                List.of("python3", "-B", "-W", "error", "-W", WAITING_IS_FINE, "-c", READ.formatted(flag, flag)));
        builder.environment().put("LARDER_STORE", store);
        builder.environment()
                .put("PYTHONPATH", Path.of("../../ops/python").toAbsolutePath().toString());
        try {
            assumeTrue(
                    new ProcessBuilder("python3", "-c", "import numpy").start().waitFor() == 0,
                    "needs Python with numpy");
            return new PythonConsumer(builder.redirectErrorStream(true).start());
        } catch (IOException e) {
            assumeTrue(false, "needs Python: " + e.getMessage());
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits for its end and returns all that it said. */
    String awaitOutput() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
            close();
        }
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }
}
