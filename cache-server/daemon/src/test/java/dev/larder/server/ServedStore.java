package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.layout.StoreLocation;
import dev.larder.internal.posix.PageSize;
import dev.larder.internal.posix.Posix;
import dev.larder.internal.protocol.Done;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.store.space.Mount;
import dev.larder.testing.ChildJvm;
import dev.larder.testing.Folders;
import dev.larder.testing.LeavesNothingBehind;
import dev.larder.testing.LimitedGroup;
import dev.larder.testing.PackedClassPath;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Stream;
import net.openhft.chronicle.wire.TextWire;
import org.jspecify.annotations.Nullable;

/** A store for one test, served by daemons in this process or in others; whatever is left of either goes when it is closed. */
final class ServedStore implements AutoCloseable {
    /** So large that only the file system says no. */
    static final long ANY_CAPACITY = 1L << 50;

    /** Made here because Chronicle keeps the first thread that uses it, and on JDK 19 or later a thread keeps its task: a whole daemon. */
    static final Object CHRONICLE = TextWire.TYPE_STR;

    private final StoreLayout layout;
    private final List<ChildJvm> children = new ArrayList<>();
    private @Nullable Daemon daemon;

    private ServedStore(Path root) {
        this.layout = new StoreLayout(root);
    }

    /** Makes one in {@code /dev/shm}; the folder is there and empty. */
    static ServedStore create() {
        return new ServedStore(LeavesNothingBehind.newFolder());
    }

    /** Skips the test if new stores are on a disk, as in a container: control groups do not limit them, and overlayfs overlooks writers. */
    static void requireInMemory() {
        assumeThat(Mount.of(StoreLocation.writablePlace()).filter(Mount::isTmpfs))
                .as("stores are in shared memory")
                .isPresent();
    }

    /** Makes one in a folder that the test has chosen. */
    static ServedStore at(Path root) {
        return new ServedStore(root);
    }

    Path root() {
        return layout.root();
    }

    StoreLayout layout() {
        return layout;
    }

    ControlClient control() {
        return ControlClient.at(root());
    }

    /** Starts a daemon in this process. */
    Daemon start() {
        return start(OptionalLong.empty());
    }

    Daemon start(OptionalLong capacityBytes) {
        daemon = Daemon.start(new DaemonConfig(root(), capacityBytes, 2));
        return daemon;
    }

    /** Starts a daemon in this process that leaves data on the pages it is written to. */
    Daemon startWithoutCollapse() {
        daemon = Daemon.start(new DaemonConfig(root(), OptionalLong.empty(), 2, Sharing.NONE, () -> false, false));
        return daemon;
    }

    /** Tells whether the daemon in this process has ended, however it came to. */
    boolean isStopped() {
        return daemon != null && daemon.isStopped();
    }

    /** Starts a daemon in a process of its own and returns when it is ready. */
    ChildJvm startProcess(String... capacity) {
        ChildJvm child = launchProcess(capacity);
        child.awaitLine(DaemonProgram.READY);
        return child;
    }

    /** Starts a daemon in a control group, and returns when it is ready. */
    ChildJvm startProcessIn(LimitedGroup group, String... capacity) {
        return startProcessIn(group, List.of(), capacity);
    }

    /** Starts a daemon in a control group, with further flags for its JVM. */
    ChildJvm startProcessIn(LimitedGroup group, List<String> flags, String... capacity) {
        ChildJvm child = ChildJvm.start(
                System.getProperty("java.class.path"),
                Stream.concat(ChildJvm.libraryFlags().stream(), flags.stream()).toList(),
                LimitedDaemonProgram.class.getName(),
                Stream.concat(Stream.of(group.folder().toString(), root().toString()), Arrays.stream(capacity))
                        .toArray(String[]::new));
        children.add(child);
        child.awaitLine(DaemonProgram.READY);
        return child;
    }

    /** Starts a daemon in a process of its own, which may well refuse. */
    ChildJvm launchProcess(String... capacity) {
        return launchProcess(DaemonProgram.class, capacity);
    }

    /** Starts a daemon by a program that changes its process first. */
    ChildJvm launchProcess(Class<?> program, String... capacity) {
        String[] arguments = Stream.concat(Stream.of(root().toString()), Arrays.stream(capacity))
                .toArray(String[]::new);
        ChildJvm child = ChildJvm.start(
                PackedClassPath.words(),
                Stream.concat(
                                ChildJvm.libraryFlags().stream(),
                                Stream.of(
                                        "-XX:SharedArchiveFile=" + DaemonClasses.archive(),
                                        "-Dlarder.archives="
                                                + DaemonClasses.archive().getParent()))
                        .toList(),
                program.getName(),
                arguments);
        children.add(child);
        return child;
    }

    Done load(String name, Path source) {
        return control().load(request(name, source), progress -> {});
    }

    static LoadRequest request(String name, Path source) {
        return new LoadRequest(List.of(new LoadRequest.Source(name, source.toString())), List.of(), 0);
    }

    /** Writes a source whose data is these numbers. */
    static Path writeInts(Path file, int... values) {
        ByteBuffer data = ByteBuffer.allocate(values.length * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        data.asIntBuffer().put(values);
        return write(file, NpyHeader.of(Dtype.parse("<i4"), Order.C, values.length), data);
    }

    /** Writes a source of bytes that repeat only after 251, so that no page is like the next. */
    static Path writeBytes(Path file, int length) {
        byte[] data = new byte[length];
        for (int i = 0; i < length; i++) {
            data[i] = (byte) (i % 251);
        }
        return write(file, NpyHeader.of(Dtype.parse("|u1"), Order.C, length), ByteBuffer.wrap(data));
    }

    /** Writes a source that is nearly all hole, and is read as zeros at the speed of memory. */
    static Path writeHole(Path file, long length) {
        NpyHeader header = NpyHeader.of(Dtype.parse("|u1"), Order.C, length);
        write(file, header, ByteBuffer.allocate(0));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[1]), channel.size() + length - 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    private static Path write(Path file, NpyHeader header, ByteBuffer data) {
        try {
            Files.createDirectories(file.getParent());
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
                channel.write(header.encode(64));
                channel.write(data);
            }
            return file;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes all pages of the file system that the store lies on but so many, by a file beside the store, and returns it. */
    Path fillMount(int pagesLeft) throws IOException {
        Path filler = root().resolveSibling("filler");
        Posix posix = Posix.system();
        int descriptor = posix.openOrCreate(filler, 0600);
        long free = Files.getFileStore(filler).getUsableSpace();
        posix.reserve(descriptor, 0, free - pagesLeft * PageSize.BYTES);
        posix.close(descriptor);
        return filler;
    }

    /** Returns the readers of this store that live, and what they have started: all are in its folder. */
    List<ProcessHandle> readersAlive() {
        String incoming = layout.incoming().toString();
        return ProcessHandle.allProcesses()
                .filter(process -> folderOf(process.pid()).startsWith(incoming))
                .toList();
    }

    private static String folderOf(long pid) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/" + pid + "/cwd")).toString();
        } catch (IOException goneOrOfAnotherUser) {
            return "";
        }
    }

    /** Fails unless no load has left anything. */
    void requireNothingLeft() {
        assertThat(entries(layout.incoming())).isEmpty();
        assertThat(entries(layout.data())).isEmpty();
        assertThat(readersAlive()).isEmpty();
    }

    /** Returns the names of what is in a folder, sorted; none where it is absent. */
    static List<String> entries(Path folder) {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.map(entry -> String.valueOf(entry.getFileName()))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        children.forEach(ChildJvm::close);
        if (daemon != null) {
            daemon.stop(false);
        }
        Folders.remove(root());
    }
}
