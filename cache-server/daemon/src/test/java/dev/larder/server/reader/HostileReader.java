package dev.larder.server.reader;

import dev.larder.reader.BadSource;
import dev.larder.reader.FormatReader;
import dev.larder.reader.InputFile;
import dev.larder.reader.Offer;
import dev.larder.reader.OpenedSource;
import dev.larder.reader.Output;
import dev.larder.reader.ReadProgress;
import dev.larder.reader.ReadRequest;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.logging.Logger;
import java.util.stream.Collectors;

/** Does what the file that it is to read says in its first word: for tests of what a reader may do to a daemon. */
public final class HostileReader implements FormatReader {
    /** Enough for its file to be taken over as it is. */
    static final int NUMBERS = 1 << 20;

    /** The test kills it long before; without one it ends by itself. */
    private static final long LONGER_THAN_ANYONE_WAITS_MS = 600_000;

    private static final int MIB = 1 << 20;

    @Override
    public String kind() {
        return "hostile";
    }

    @Override
    public OpenedSource open(ReadRequest request, ReadProgress progress) throws IOException {
        Path file = request.files().get(0).path();
        String word = Files.readAllLines(file).get(0).split(" ", 2)[0];
        switch (word) {
            case "exit-look" -> {
                Logger.getLogger("library").info("a note that explains nothing");
                Runtime.getRuntime().halt(7);
            }
            case "hang-look" -> sleep();
            case "eat-heap" -> eatHeap();
            case "flood" -> flood();
            case "tell-nothing" -> print("{\"progressed\":{\"bytes\":0}}\0", true);
            case "print" -> print(Files.readString(file).split(" ", 2)[1], false);
            case "print-endlessly" -> print(Files.readString(file).split(" ", 2)[1], true);
            case "print-and-exit" -> {
                printOnce(Files.readString(file).split(" ", 2)[1]);
                Runtime.getRuntime().halt(0);
            }
            case "refuse" -> throw new BadSource(0, 12, "a", "its sum is wrong", "write it again");
            case "crash" -> crash();
            case "throw" -> throw new IllegalStateException("a bug");
            case "claim-progress" -> {
                while (true) {
                    progress.looked(1L << 40);
                }
            }
            default -> {
                if (word.equals("slow-look")) {
                    Files.createFile(Path.of(file + ".looked"));
                    while (!Files.exists(Path.of(file + ".go"))) {
                        Thread.onSpinWait();
                    }
                }
                progress.looked(1_000);
                return new Source(file, word, offers(request.files(), word));
            }
        }
        throw new IllegalStateException(word);
    }

    private static List<Offer> offers(List<InputFile> files, String word) throws IOException {
        List<Offer> offers = new ArrayList<>();
        switch (word) {
            case "lie-dtype" -> offers.add(Offer.array("a", "<q9", List.of(1L)));
            case "lie-shape" -> offers.add(Offer.array("a", "<i4", List.of(-1L)));
            case "lie-size" -> offers.add(Offer.array("a", "<i4", List.of(1L << 40, 1L << 40)));
            case "lie-part" -> offers.add(new Offer("a", "HEAD", "<i4", List.of(1L), Offer.WRITTEN, 0));
            case "lie-place" ->
                offers.add(Offer.array("a", "<i4", List.of(1000L)).lyingIn(0, 4));
            case "lie-file" -> offers.add(Offer.array("a", "<i4", List.of(1L)).lyingIn(9, 0));
            case "lie-name" -> offers.add(Offer.array("../a", "<i4", List.of(1L)));
            case "offer-twice" -> {
                offers.add(Offer.array("a", "<i4", List.of(1L)));
                offers.add(Offer.array("a", "<i4", List.of(1L)));
            }
            case "lie-long" -> {
                return Collections.nCopies(1_000_000, Offer.array("a".repeat(60_000), "<i4", List.of(1L)));
            }
            case "below" -> // an array of the first file, with the name of a level that another file has
                offers.add(Offer.array(files.get(0).level() + "b/x", "|u1", List.of(9L))
                        .lyingIn(0, 0));
            case "want-terabytes" -> offers.add(Offer.array("a", "<i4", List.of(1L << 42)));
            default -> {
                for (int i = 0; i < files.size(); i++) {
                    String level = files.get(i).level();
                    offers.add(Offer.array(level + "a", "<i4", List.of((long) NUMBERS)));
                    offers.add(Offer.array(level + "b", "<i4", List.of(2L, 3L)));
                    offers.addAll(Offer.strings(level + "s", 1, told().length));
                    offers.add(Offer.array(level + "c of d", "|u1", List.of(4L)).lyingIn(i, 0));
                }
            }
        }
        return offers;
    }

    /** Returns what it sees of the daemon: its environment, and files that are open. */
    private static byte[] told() throws IOException {
        StringBuilder told =
                new StringBuilder(System.getenv().keySet().stream().sorted().collect(Collectors.joining(",")));
        String here = Path.of("").toAbsolutePath().toString();
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            List<String> open = new ArrayList<>();
            for (Path descriptor : descriptors) {
                if (Files.isSymbolicLink(descriptor)) {
                    String target = Files.readSymbolicLink(descriptor).toString();
                    if (target.startsWith("/dev/shm") && !target.startsWith(here)) {
                        open.add(target);
                    }
                }
            }
            told.append(' ').append(open);
        }
        return told.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void sleep() {
        try {
            Thread.sleep(LONGER_THAN_ANYONE_WAITS_MS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void eatHeap() {
        List<byte[]> eaten = new ArrayList<>();
        while (true) {
            eaten.add(new byte[8 * MIB]);
            System.err.println("eaten: " + eaten.size());
        }
    }

    private static void flood() {
        byte[] noise = new byte[MIB];
        Arrays.fill(noise, (byte) 'x');
        for (int i = 0; i < 64; i++) {
            System.err.write(noise, 0, noise.length);
        }
        System.err.println("the end");
        System.err.flush();
        Runtime.getRuntime().halt(5);
    }

    /** Prints to standard output, a byte for each character, where only messages should be. */
    private static void print(String text, boolean isEndless) throws IOException {
        printOnce(text);
        while (isEndless) {
            printOnce(text);
        }
        sleep();
    }

    private static void printOnce(String text) throws IOException {
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Has the JVM write to nowhere. */
    private static void crash() {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field field = unsafe.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe.getMethod("putLong", long.class, long.class).invoke(field.get(null), 8L, 1L);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Source(Path file, String word, List<Offer> offers) implements OpenedSource {
        @Override
        public void read(Output output) throws IOException {
            switch (word) {
                case "write-half" -> output.at(0, 0, NUMBERS);
                case "write-past" -> output.at(0, 0, NUMBERS * 4 + 1);
                case "exit-read" -> Runtime.getRuntime().halt(9);
                case "hang-read" -> sleep();
                case "lengthen" -> change(channel -> channel.write(ByteBuffer.allocate(100), channel.size() + MIB));
                case "fill" -> fill();
                case "fork" -> fork();
                case "fork-hang" -> {
                    fork();
                    sleep();
                }
                default -> {}
            }
            if (word.startsWith("write-")) {
                return;
            }
            for (int i = 0; i < offers.size(); i++) {
                write(offers.get(i), i, output);
            }
            if (word.equals("truncate")) {
                change(channel -> channel.truncate(5000));
            }
        }

        private void write(Offer offer, int index, Output output) throws IOException {
            switch (offer.name().replaceFirst("^[xy]/", "")) {
                case "a" -> {
                    ByteBuffer numbers = output.at(index, 0, NUMBERS * 4);
                    for (int n = 0; n < NUMBERS; n++) {
                        numbers.putInt(n);
                    }
                }
                case "b" ->
                    output.at(index, 0, 24)
                            .putInt(1)
                            .putInt(2)
                            .putInt(3)
                            .putInt(4)
                            .putInt(5)
                            .putInt(6);
                case "s/bytes" -> {
                    int length = Math.toIntExact(offer.shape().get(0));
                    output.at(index, 0, length).put(Arrays.copyOf(told(), length));
                }
                case "s/offsets" ->
                    output.at(index, 0, 16)
                            .putLong(0)
                            .putLong(offers.get(index - 1).shape().get(0));
                default -> {}
            }
        }

        private interface Change {
            void on(FileChannel channel) throws IOException;
        }

        private static void change(Change change) throws IOException {
            try (FileChannel channel = FileChannel.open(Path.of("0.npy"), StandardOpenOption.WRITE)) {
                change.on(channel);
            }
        }

        private static void fill() throws IOException {
            try (OutputStream out = Files.newOutputStream(Path.of("filler"))) {
                while (true) {
                    out.write(new byte[MIB]);
                }
            }
        }

        /** Leaves a process of another session that can write to the array. */
        private void fork() throws IOException {
            new ProcessBuilder(
                            "setsid",
                            "sh",
                            "-c",
                            "exec 3<>0.npy; echo > \"$0.forked\"; exec sleep 300",
                            file.toString())
                    .inheritIO()
                    .start();
            while (!Files.exists(Path.of(file + ".forked"))) {
                Thread.onSpinWait();
            }
        }

        @Override
        public void close() {}
    }
}
