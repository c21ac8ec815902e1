package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.npy.Dtype;
import dev.larder.npy.NpyHeader;
import dev.larder.npy.Order;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class SourceRefusalTest {
    @TempDir
    private Path folder;

    static Stream<Arguments> contents() {
        byte[] idx = SourceFiles.idx(8, 1, 5, 2);
        byte[] npy = npy("<f4", 4);
        return Stream.of(
                arguments("x.npy", new byte[0], 0, "before the magic bytes"),
                arguments("x.npy", idx, 0, "not a .npy file"),
                arguments("x.npy", Arrays.copyOf(npy, npy.length - 1), 143, "it ends after 15 of 16 bytes of data"),
                arguments("x.npy", Arrays.copyOf(npy, 128), 128, "it ends after 0 of 16 bytes of data"),
                arguments("x.npy", Arrays.copyOf(npy, npy.length + 3), 144, "3 bytes follow the 16 bytes of data"),
                arguments("x.npy", objects(), 20, "pickle"),
                arguments("x.npy", tooLongForNumpy(), 0, "header too long for numpy"),
                arguments("x-idx2-ubyte", new byte[0], 0, "ends too early"),
                arguments("x-idx2-ubyte", Arrays.copyOf(idx, 3), 3, "ends too early"),
                arguments("x-idx2-ubyte", Arrays.copyOf(idx, 10), 8, "ends too early"),
                arguments("x-idx2-ubyte", npy, 0, "not an IDX file"),
                arguments("x-idx2-ubyte", SourceFiles.idx(7, 1, 5, 2), 2, "type 0x07 is unknown"),
                arguments("x-idx2-ubyte", SourceFiles.idx(8, 1, 10), 3, "name says 2 dimensions, its content 1"),
                arguments("x-idx2-ubyte", Arrays.copyOf(idx, 21), 21, "it ends after 9 of 10 bytes of data"),
                arguments("x-idx2-ubyte", Arrays.copyOf(idx, 23), 22, "1 bytes follow the 10 bytes of data"),
                arguments("x-idx1-ubyte", huge(1), 8, "it ends after 0 of 4294967295 bytes"),
                arguments("x-idx2-ubyte", huge(2), 4, "no array can have the shape"),
                arguments("x-idx2-ubyte.gz", new byte[0], 0, "ends too early"),
                arguments("x-idx2-ubyte.gz", idx, 0, "compressed data is corrupt"),
                arguments("x-idx2-ubyte.gz", SourceFiles.gzip(new byte[0]), 0, "ends too early"),
                arguments("x-idx2-ubyte.gz", SourceFiles.gzip(npy), 0, "not an IDX file"),
                arguments("x-idx1-ubyte.gz", SourceFiles.gzip(huge(1)), 0, "cannot hold the 4294967295 bytes"));
    }

    @ParameterizedTest
    @MethodSource("contents")
    void aBadFileIsRefusedWithItsPlace(String fileName, byte[] content, long offset, String reason) {
        Path file = SourceFiles.write(folder.resolve(fileName), content);

        assertThat(refusal(file))
                .hasMessageContaining(reason)
                .hasMessageContaining("file=" + file + " offset=" + offset);
    }

    static Stream<Arguments> packedContents() {
        byte[] idx = SourceFiles.idx(8, 1, 500, 200);
        byte[] packed = SourceFiles.gzip(idx);
        byte[] badChecksum = packed.clone();
        badChecksum[packed.length - 6] ^= 1;
        byte[] badBody = packed.clone();
        badBody[packed.length / 2] ^= 0x55;
        return Stream.of(
                arguments(
                        "short", SourceFiles.gzip(Arrays.copyOf(idx, idx.length - 1)), "it ends after 99999 of 100000"),
                arguments(
                        "long", SourceFiles.gzip(Arrays.copyOf(idx, idx.length + 1)), "more follows the 100000 bytes"),
                arguments("cut", Arrays.copyOf(packed, packed.length / 2), "ends too early"),
                arguments("without its checksum", Arrays.copyOf(packed, packed.length - 8), "ends too early"),
                arguments("with a wrong checksum", badChecksum, "compressed data is corrupt"),
                arguments("with a wrong body", badBody, ""));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("packedContents")
    void badPackedDataFailsBeforeItsLastByteIsHandedOut(String how, byte[] content, String reason) {
        Path file = SourceFiles.write(folder.resolve("x-idx2-ubyte.gz"), content);
        SourceArray array =
                ScannedSource.scan("set", file, SourceOptions.none()).arrays().get(0);

        assertThatThrownBy(() -> SourceFiles.data(array))
                .as(how)
                .isInstanceOfSatisfying(LarderException.class, SourceRefusalTest::isBadInput)
                .hasMessageContaining("file=" + file)
                .hasMessageContaining(reason);
    }

    @Test
    void aFileThatShrinksAfterTheCheckIsNoticed() throws Exception {
        Path file = SourceFiles.npy(folder.resolve("x.npy"), "<f4", 1000);
        SourceArray array =
                ScannedSource.scan("set", file, SourceOptions.none()).arrays().get(0);

        SourceFiles.npy(file, "<f4", 900);

        assertThatThrownBy(() -> SourceFiles.data(array)).hasMessageContaining("it ends after 3600 of 4000 bytes");
        assertThatThrownBy(array.files().get(0)::requireUnchanged).hasMessageContaining("changed while it was read");
    }

    @Test
    void allBadFilesAreListedAtOnce() {
        SourceFiles.npy(folder.resolve("good.npy"), "<f4", 3);
        SourceFiles.write(folder.resolve("a.npy"), new byte[3]);
        SourceFiles.write(folder.resolve("b".repeat(241) + ".npy"), npy("<f4", 1));
        SourceFiles.write(folder.resolve("sub/d-idx1-ubyte"), new byte[3]);

        assertThat(refusal(folder))
                .hasMessageContaining("badFiles=3")
                .hasMessageContaining("a.npy offset=3")
                .hasMessageContaining("bbb...: a part of it is longer than 240 bytes")
                .hasMessageContaining("d-idx1-ubyte offset=3");
    }

    @Test
    void theNameOfAFileCannotLookLikeAnotherEntryOfTheList() {
        SourceFiles.write(folder.resolve("a\n  cannot read.npy"), new byte[3]);
        SourceFiles.write(folder.resolve("b.npy"), new byte[3]);

        List<String> lines =
                String.valueOf(refusal(folder).getMessage()).lines().toList();

        assertThat(lines).hasSize(4);
        assertThat(lines.get(2)).startsWith("      cannot read.npy offset=3");
        assertThat(lines.get(3)).startsWith("  cannot read npy header: file=" + folder.resolve("b.npy"));
    }

    @Test
    void twoSourcesOfOneNameAreRefused() {
        SourceFiles.write(folder.resolve("x-idx1-ubyte"), SourceFiles.idx(8, 1, 2));
        SourceFiles.write(folder.resolve("x-idx1-ubyte.gz"), SourceFiles.gzip(SourceFiles.idx(8, 1, 2)));

        assertThat(refusal(folder))
                .hasMessageContaining("array x clashes")
                .hasMessageContaining("has the same name; rename one of the files, or leave one out with --exclude");
    }

    @Test
    void aFileAndAFolderThatWouldBeOneInTheStoreAreRefused() {
        SourceFiles.npy(folder.resolve("x.npy.npy"), "<f4", 3);
        SourceFiles.npy(folder.resolve("y.npy"), "<f4", 3);
        SourceFiles.write(folder.resolve("y.npy.d/ok.npy"), npy("<f4", 1));
        SourceFiles.write(folder.resolve("z-idx1-ubyte"), SourceFiles.idx(8, 1, 2));
        SourceFiles.npy(folder.resolve("z.npy/in.npy"), "<f4", 3);

        assertThat(refusal(folder)).hasMessageContaining("array z.npy/in clashes: " + folder.resolve("z-idx1-ubyte"));
    }

    @Test
    void nothingToLoadIsRefused() {
        assertThat(refusal(folder)).hasMessageContaining("nothing to load").hasMessageContaining("skippedFiles=0");

        SourceFiles.write(folder.resolve("a.what"), new byte[3]);

        assertThat(refusal(folder)).hasMessageContaining("nothing to load").hasMessageContaining("skippedFiles=1");
    }

    @Test
    void filesThatLoadOtherwiseAreCountedWithTheOption() {
        for (String name : List.of("cat/1.png", "cat/2.JPG", "dog/3.webp", "notes.txt")) {
            SourceFiles.write(folder.resolve(name), new byte[3]);
        }

        assertThat(refusal(folder))
                .message()
                .endsWith("; it has 3 images: add --as images; it has 1 text file: add --as strings");
        assertThat(refusal(folder.resolve("cat/1.png"))).message().endsWith("; load it --as images");
    }

    @Test
    void aPathThatIsNoSourceIsRefused() {
        Path text = SourceFiles.write(folder.resolve("a.txt"), new byte[3]);

        assertThat(refusal(text)).hasMessageContaining("load it --as strings, or --as bytes");
        assertThat(refusal(SourceFiles.write(folder.resolve("a.what"), new byte[3])))
                .hasMessageContaining("has no known suffix");
        assertThat(refusal(folder.resolve("absent.npy"))).hasMessageContaining("it does not exist");
        assertThat(refusal(Path.of("/dev/null"))).hasMessageContaining("pipe, device or socket");
    }

    @Test
    void aPipeIsRefusedWithoutWaitingForItsWriter() throws Exception {
        Path pipe = folder.resolve("pipe.npy");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();

        assertThat(refusal(pipe))
                .hasMessageContaining("pipe.npy reason=it is a pipe, device or socket, not a regular file");
        assertThat(refusal(folder))
                .hasMessageContaining("pipe.npy reason=it is a pipe, device or socket, not a regular file");
    }

    @Test
    void aSocketIsRefused() throws Exception {
        Path sockets = Files.createTempDirectory(Path.of("/tmp"), "larder");
        Path socket = sockets.resolve("s.npy");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(socket));

            assertThat(refusal(sockets)).hasMessageContaining("it is a pipe, device or socket");
        } finally {
            Files.deleteIfExists(socket);
            Files.delete(sockets);
        }
    }

    @Test
    void linksThatLeadNowhereOrInCirclesAreRefused() throws Exception {
        Files.createSymbolicLink(folder.resolve("dangling.npy"), Path.of("nowhere"));
        Files.createSymbolicLink(folder.resolve("self.npy"), Path.of("self.npy"));
        Path device = Files.createSymbolicLink(folder.resolve("device.npy"), Path.of("/dev/zero"));
        Files.createSymbolicLink(folder.resolve("above"), folder);

        assertThat(refusal(folder))
                .hasMessageContaining("dangling.npy reason=it is a dangling link")
                .hasMessageContaining("self.npy reason=")
                .hasMessageContaining("device.npy reason=it is a pipe, device or socket, not a regular file")
                .hasMessageContaining("above reason=the folder contains itself");
        Files.delete(device);
    }

    @Test
    void aFileThatCannotBeReadIsRefused() throws Exception {
        Path broken = Files.createSymbolicLink(folder.resolve("broken.npy"), Path.of("/proc/self/mem"));

        assertThat(refusal(folder))
                .hasMessageContaining("broken.npy offset=0 reason=")
                .hasMessageContaining("Input/output");
        Files.delete(broken);
    }

    @Test
    void aFileWithoutPermissionIsRefused() throws Exception {
        assumeFalse("root".equals(System.getProperty("user.name")), "root may read everything");
        Path file = SourceFiles.npy(folder.resolve("secret.npy"), "<f4", 3);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("---------"));

        assertThat(refusal(folder)).hasMessageContaining("secret.npy reason=permission denied to the user ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", ".hidden", "..", "a/b", ""})
    void aBadDatasetNameIsRefusedBeforeAnythingIsRead(String name) {
        assertThatThrownBy(() -> ScannedSource.scan(name, folder.resolve("absent"), SourceOptions.none()))
                .hasMessageContaining("bad dataset name");
    }

    private static LarderException refusal(Path path) {
        try {
            throw new AssertionError("not refused: " + ScannedSource.scan("set", path, SourceOptions.none()));
        } catch (LarderException e) {
            isBadInput(e);
            return e;
        }
    }

    private static void isBadInput(LarderException e) {
        assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT);
    }

    private static byte[] npy(String descr, long... shape) {
        NpyHeader header = NpyHeader.of(Dtype.parse(descr), Order.C, shape);
        ByteBuffer head = header.encode(64);
        return ByteBuffer.allocate(head.remaining() + (int) header.byteSize())
                .put(head)
                .array();
    }

    private static byte[] objects() {
        String text = new String(npy("<f4", 4), StandardCharsets.ISO_8859_1);
        return text.replace("'<f4'", "'|O' ").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Numpy opens it, but its limit is passed by the header that the store would write. */
    private static byte[] tooLongForNumpy() {
        String fields = IntStream.range(0, 450)
                .mapToObj(i -> "('field" + i + "', '|u1')")
                .collect(Collectors.joining(", ", "[", "]"));
        return npy(fields, 1);
    }

    private static byte[] huge(int dimensions) {
        ByteBuffer content = ByteBuffer.allocate(4 + 4 * dimensions);
        content.putInt(0x0800 | dimensions);
        while (content.hasRemaining()) {
            content.putInt(-1);
        }
        return content.array();
    }
}
