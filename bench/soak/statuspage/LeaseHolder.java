import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;

/** A process that holds a version. */
final class LeaseHolder implements AutoCloseable {
    /** Holds the lease that the environment names. */
    static final String PROGRAM =
            "import fcntl,os,time;f=open(os.environ['LEASE']);fcntl.flock(f,fcntl.LOCK_SH);print('held',flush=True);time.sleep(999)";

    private final Path folder;
    private final Path lease;
    private Process process;

    LeaseHolder(Path folder, Path lease) {
        this.folder = folder;
        this.lease = lease;
    }

    void start() throws Exception {
        start(Map.of());
    }

    void start(Map<String, String> variables) throws Exception {
        Path program = folder.resolve("train.py");
        Files.writeString(program, PROGRAM);
        // by the name that a user types: where Python lies is of no interest in a picture
        ProcessBuilder builder = new ProcessBuilder(
                "bash", "-c", "exec -a python3 \"$(python3 -c 'import sys; print(sys.executable)')\" \"$@\"", "bash",
                program.toString(), "--epochs", "90");
        builder.environment().putAll(variables);
        builder.environment().put("LEASE", lease.toString());
        process = builder.start();
        Expect.require(process.inputReader().readLine().equals("held"), "no lease");
    }

    /** Starts a command with processes that hold a lease by the program above. */
    static Process command(Path lease, String... words) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().put("LEASE", lease.toString());
        return builder.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    Instant kill() throws Exception {
        process.destroyForcibly().waitFor();
        return Instant.now();
    }

    @Override
    public void close() throws Exception {
        if (process != null) {
            kill();
        }
    }
}
