package dev.larder.command.doctor;

import dev.larder.internal.posix.FileSystemSpace;
import dev.larder.internal.protocol.DaemonStatus;
import dev.larder.internal.protocol.ReleaseVersion;
import dev.larder.server.store.StoreReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A machine that is made up: in good order until a test spoils something. */
final class FakeMachine implements Probes {
    static final long GIB = 1L << 30;

    static final String MOUNTS = "22 1 0:20 / / rw - overlay overlay rw\n25 22 0:23 / /dev/shm rw - tmpfs shm rw\n";

    private final Path root;
    private final Map<String, String> properties = new HashMap<>(Map.of(
            "java.version", "17.0.15",
            "java.specification.version", "17",
            "java.home", "/jdk",
            "java.io.tmpdir", "/tmp",
            "user.home", "/home/ada"));
    private final Map<String, String> variables = new HashMap<>();
    private final Set<String> libraries = new HashSet<>(Set.of("libOpenCL.so.1", "libpocl.so"));
    private final Set<String> modules = new HashSet<>(Set.of("jdk.compiler"));
    Path store = Path.of("/dev/shm/larder-ada");
    FileSystemSpace space = new FileSystemSpace(16 * GIB, 12 * GIB, 4_000_000, 3_900_000);
    List<StoreReport> leftovers = List.of();
    DeviceAnswer devices = DeviceAnswer.listed(List.of("opencl:0 H200"));
    DaemonAnswer daemon = new DaemonAnswer(DaemonAnswer.State.RUNNING, ReleaseVersion.text(), "");
    long uid = 1000;
    Optional<String> smallMemory = Optional.empty();
    boolean givesHugePages;
    long refusedHugeBytes;
    String memoryPolicy = "default";

    FakeMachine(Path root) {
        this.root = root;
        file("/proc/self/mounts", "overlay / overlay rw 0 0\nshm /dev/shm tmpfs rw,nosuid,huge=advise 0 0\n");
        file("/proc/self/mountinfo", MOUNTS);
        file("/proc/1/mountinfo", MOUNTS);
        file("/proc/self/stat", "42 (java (x) y) S 7 42 42 0\n");
        limits("65536", "65536", "unlimited");
        file("/proc/self/cgroup", "0::/user.slice/app.service\n");
        file("/sys/fs/cgroup/user.slice/app.service/memory.max", "max\n");
        file("/proc/sys/vm/max_map_count", "65530\n");
        file("/proc/sys/vm/swappiness", "60\n");
        file("/proc/swaps", "Filename Type Size Used Priority\n");
        file("/sys/devices/system/node/has_memory", "0\n");
        file("/run/systemd/system/x", "");
        file("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\n");
        file("/etc/systemd/logind.conf.d/larder.conf", "[Login]\nRemoveIPC=no\n");
        file("/etc/login.defs", "UID_MIN 1000\nSYS_UID_MAX 999\n");
        file("/etc/OpenCL/vendors/pocl.icd", "libpocl.so\n");
    }

    /** Writes a file of the machine. */
    FakeMachine file(String path, String text) {
        try {
            Path file = root.resolve(path.substring(1));
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes a file of the machine. */
    FakeMachine without(String path) {
        try {
            Files.delete(root.resolve(path.substring(1)));
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sets the limits of the shell that started the JVM. */
    FakeMachine limits(String softFiles, String hardFiles, String lockedMemory) {
        return file(
                "/proc/7/limits",
                "Limit Soft Hard Units\nMax open files            " + softFiles + "   " + hardFiles + "  files\n"
                        + "Max locked memory  " + lockedMemory + "  " + lockedMemory + "  bytes\n");
    }

    FakeMachine property(String name, String value) {
        properties.put(name, value);
        return this;
    }

    FakeMachine variable(String name, String value) {
        variables.put(name, value);
        return this;
    }

    FakeMachine library(String name) {
        libraries.add(name);
        return this;
    }

    FakeMachine withoutLibrary(String name) {
        libraries.remove(name);
        return this;
    }

    FakeMachine withoutModule(String name) {
        modules.remove(name);
        return this;
    }

    Machine machine() {
        return new Machine(root, store, "ada", uid, properties::get, this, bytes -> bytes / GIB + " GiB");
    }

    @Override
    public FileSystemSpace space(Path path) {
        return space;
    }

    @Override
    public String reason(Path store) {
        return "it exists";
    }

    @Override
    public Optional<String> smallMemory(Path store) {
        return smallMemory;
    }

    @Override
    public boolean hasLibrary(String name) {
        return libraries.contains(name);
    }

    @Override
    public String variable(String name) {
        return variables.getOrDefault(name, "");
    }

    @Override
    public boolean givesHugePages() {
        return givesHugePages;
    }

    @Override
    public Optional<DaemonStatus> status(Path store) {
        return Optional.of(new DaemonStatus(
                "", 0, "", 0, 0, 0, 0, 0, 0, 0, 0, "", 0, refusedHugeBytes, memoryPolicy, Duration.ZERO, ""));
    }

    @Override
    public boolean hasModule(String name) {
        return modules.contains(name);
    }

    @Override
    public List<StoreReport> leftovers(Path ofStore) {
        return leftovers;
    }

    @Override
    public DeviceAnswer devices() {
        return devices;
    }

    @Override
    public DaemonAnswer daemon(Path asked) {
        return daemon;
    }
}
