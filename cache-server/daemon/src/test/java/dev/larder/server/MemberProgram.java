package dev.larder.server;

import dev.larder.client.ArrayWriter;
import dev.larder.client.BuildOptions;
import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.LarderException;
import dev.larder.internal.control.ControlClient;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.LoadOptions;
import dev.larder.internal.protocol.LoadRequest;
import dev.larder.internal.protocol.Progress;
import dev.larder.internal.protocol.Protocol;
import dev.larder.npy.Dtype;
import dev.larder.server.member.ClientSideLoad;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** What another user does at a store: one action an argument, one line of output for each. */
final class MemberProgram {
    static final String OK = "ok ";

    private final Path store;
    private final ControlClient control;

    private MemberProgram(Path store) {
        this.store = store;
        this.control = ControlClient.at(store);
    }

    /** Takes the store, then actions such as {@code "load NAME PATH"}. */
    public static void main(String[] arguments) throws Exception {
        MemberProgram program = new MemberProgram(Path.of(arguments[0]));
        for (int i = 1; i < arguments.length; i++) {
            String outcome;
            try {
                outcome = OK + program.act(List.of(arguments[i].split(" ", -1)));
            } catch (LarderException e) {
                outcome = e.code() + " " + e.getMessage();
            } catch (IOException e) {
                outcome = e.getClass().getSimpleName();
            }
            System.out.println(outcome.replace('\n', ' '));
        }
    }

    private Object act(List<String> words) throws Exception {
        String name = words.size() > 1 ? words.get(1) : "";
        return switch (words.get(0)) {
            case "read" -> read(name);
            case "list" -> control.list("", true).size();
            case "load" ->
                ClientSideLoad.load(store, request(name, words.get(2)), progress -> {})
                        .files();
            case "loadInPlace" ->
                ClientSideLoad.load(store, inPlace(request(name, words.get(2))), progress -> {})
                        .files();
            case "askDaemonToLoad" ->
                control.load(request(name, words.get(2)), progress -> {}).files();
            case "evict" -> control.evict(name).files();
            case "forget" -> control.forget(name).files();
            case "create" -> create(name);
            case "pin" -> control.pin(name).files();
            case "reload" -> control.reload(name, progress -> {}).files();
            case "verify" -> control.verify(name, progress -> {}).files();
            case "verifySources" ->
                control.verifyAgainstSources(name, progress -> {}).files();
            case "errors" -> control.errors().size();
            case "stop" -> control.stop(false, progress -> {}).files();
            case "prowl" -> prowl(name);
            case "plant" -> plant(name);
            case "overflow" -> overflow(name);
            case "cling" -> cling(name);
            case "crowd" -> crowd(Integer.parseInt(name));
            case "hold" -> hold(name);
            case "inspect" -> StoreInsides.problems(ServedStore.at(store));
            default -> throw new IllegalArgumentException(words.get(0));
        };
    }

    private static LoadRequest request(String name, String path) {
        return new LoadRequest(List.of(new LoadRequest.Source(name, path)), List.of(), 0);
    }

    private static LoadRequest inPlace(LoadRequest request) {
        return new LoadRequest(request.sources(), LoadOptions.none().withInPlace(true), 0);
    }

    private int read(String array) {
        try (Larder larder = Larder.connect(store);
                OwnedArrayView view = larder.open(array)) {
            return view.getInt(0);
        }
    }

    /** Looks around where others build. */
    private String prowl(String file) throws IOException {
        Path path = store.resolve(file);
        if (Files.isDirectory(path)) {
            try (Stream<Path> entries = Files.list(path)) {
                return entries.toList().toString();
            }
        }
        FileChannel.open(path, StandardOpenOption.WRITE).close();
        return "opened";
    }

    /** Publishes the next version of whatever has the name. */
    private String create(String name) {
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(name)) {
            builder.array("x", Dtype.parse("|u1"), 10);
            builder.publish();
            return "published";
        }
    }

    /** Tries to put into its own upload what the daemon did not make. */
    private String plant(String name) throws IOException {
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(name)) {
            Files.createSymbolicLink(builder.folder().resolve("x.npy"), Path.of("/etc/passwd"));
            return "planted";
        }
    }

    /** Writes more than it has announced, and waits until that is noticed. */
    private String overflow(String name) throws IOException, InterruptedException {
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(name, BuildOptions.NONE)) {
            builder.array("x", Dtype.parse("|u1"), 10);
            Path file = builder.folder().resolve("x.npy");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                channel.write(ByteBuffer.allocate(100_000), channel.size());
                while (channel.size() > 0) { // the daemon empties it
                    Thread.onSpinWait();
                }
            }
            builder.publish();
            return "published";
        }
    }

    /** Publishes what it still has open for writing. */
    private String cling(String name) throws IOException {
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(name)) {
            builder.array("x", Dtype.parse("|u1"), 2 << 20);
            try (FileChannel channel = FileChannel.open(builder.folder().resolve("x.npy"), StandardOpenOption.WRITE)) {
                builder.publish();
                channel.write(ByteBuffer.wrap(new byte[] {77}), StoreLayout.DATA_START);
                return "published";
            }
        }
    }

    /** Connects as often as it can, and says how often it was not refused. */
    private int crowd(int count) throws IOException {
        List<SocketChannel> channels = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            channels.add(SocketChannel.open(Protocol.address(store.resolve("control.sock"))));
        }
        System.out.println("connected");
        int admitted = 0;
        for (SocketChannel channel : channels) {
            admitted += channel.read(ByteBuffer.allocate(1)) < 0 ? 1 : 0; // the others are told why at once
        }
        return admitted;
    }

    /** Begins to build, and never ends. */
    private Optional<Progress> hold(String name) throws InterruptedException {
        try (Larder larder = Larder.connect(store);
                DatasetBuilder builder = larder.build(name)) {
            ArrayWriter writer = builder.array("x", Dtype.parse("|u1"), 1 << 20);
            System.out.println("building " + builder.folder() + " " + writer.byteSize());
            new CountDownLatch(1).await();
            return Optional.empty();
        }
    }
}
