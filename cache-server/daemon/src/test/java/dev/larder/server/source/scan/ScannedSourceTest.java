package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.npy.Numpy;
import dev.larder.npy.Order;
import dev.larder.server.source.Extent;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceIdentity;
import dev.larder.server.source.SourceOptions;
import dev.larder.testing.FashionMnist;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ScannedSourceTest {

    @TempDir
    private Path folder;

    @Test
    void aFolderTreeGivesNamesFromRelativePaths() {
        SourceFiles.npy(folder.resolve("b.npy"), "<f4", 3, 4);
        SourceFiles.npy(folder.resolve("lr=0.1/deep/a.b.npy"), ">i2", 5);
        SourceFiles.write(folder.resolve("train-images-idx3-ubyte"), SourceFiles.idx(8, 1, 2, 3, 4));
        SourceFiles.write(folder.resolve("train-labels.idx1-ubyte.gz"), SourceFiles.gzip(SourceFiles.idx(8, 1, 2)));

        ScannedSource source = ScannedSource.scan("set", folder, SourceOptions.none());

        assertThat(source.arrays())
                .extracting(array -> array.name().toString())
                .containsExactly("set/b", "set/lr=0.1/deep/a.b", "set/train-images", "set/train-labels");
        assertThat(source.arrays()).extracting(SourceArray::byteSize).containsExactly(48L, 10L, 24L, 2L);
    }

    @Test
    void filesOfNoKnownKindAreCounted() {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 3);
        SourceFiles.write(folder.resolve("README.md"), new byte[3]);
        SourceFiles.write(folder.resolve("sub/a.npy.bak"), new byte[3]);

        assertThat(ScannedSource.scan("set", folder, SourceOptions.none()).skippedFiles())
                .isEqualTo(2);
    }

    @Test
    void skippedFilesAreNamedWithTheRemedy() {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 3);
        SourceFiles.write(folder.resolve("b.txt"), "text\n".getBytes(StandardCharsets.UTF_8));
        SourceOptions strings = new SourceOptions(List.of(), LoadOptions.As.STRINGS, "", "");

        assertThat(notes(SourceOptions.none()))
                .containsExactly("skipped 1 file of no known kind: b.txt; load texts with --as strings,"
                        + " by themselves, or leave them out with --exclude");
        assertThat(notes(strings))
                .containsExactly("skipped 1 file of another kind: a.npy; load arrays without --as,"
                        + " by themselves, or leave them out with --exclude");
        for (String name : List.of("c.what", "d.what", "e.what")) {
            SourceFiles.write(folder.resolve(name), new byte[3]);
        }
        assertThat(notes(SourceOptions.none()))
                .singleElement()
                .asString()
                .startsWith("skipped 4 files of no known kind: b.txt, c.what, d.what, …; load texts");
    }

    private List<String> notes(SourceOptions options) {
        ScannedSource source = ScannedSource.scan("set", folder, options);
        source.arrays().forEach(SourceArray::release);
        return ScannedSource.notes(List.of(source));
    }

    @ParameterizedTest
    @CsvSource({"x.npy,x", "x.y.npy,x.y", "npy.npy,npy"})
    void aSingleFileIsNamedAfterItsStem(String fileName, String array) {
        Path file = SourceFiles.npy(folder.resolve(fileName), "<f4", 3);

        ScannedSource source = ScannedSource.scan("set", file, SourceOptions.none());

        assertThat(source.arrays())
                .singleElement()
                .satisfies(only -> assertThat(only.name()).hasToString("set/" + array));
    }

    @Test
    void aPlainNpyFileCanBeReadInPlace() throws Exception {
        Path file = SourceFiles.npy(folder.resolve("x.npy"), ">f8", 2, 3);
        SourceArray array = only(file);

        Extent region = array.extents().get(0);

        assertThat(region).isEqualTo(new Extent(file, 128, 48));
        try (FileChannel channel = region.open()) {
            ByteBuffer data = ByteBuffer.allocate(100);
            assertThat(channel.read(data)).isEqualTo(48);
            assertThat(data.flip()).isEqualTo(ByteBuffer.wrap(SourceFiles.counting(48)));
        }
        assertThat(SourceFiles.data(array)).isEqualTo(SourceFiles.counting(48));
    }

    @ParameterizedTest
    @CsvSource({"8,1,|u1", "9,1,|i1", "11,2,>i2", "12,4,>i4", "13,4,>f4", "14,8,>f8"})
    void idxElementsKeepTheirByteOrder(int type, int itemSize, String descr) throws Exception {
        byte[] content = SourceFiles.idx(type, itemSize, 3, 2);
        SourceArray plain = only(SourceFiles.write(folder.resolve("x-idx2-ubyte"), content));
        SourceArray packed = only(SourceFiles.write(folder.resolve("y-idx2-ubyte.gz"), SourceFiles.gzip(content)));

        for (SourceArray array : new SourceArray[] {plain, packed}) {
            assertThat(array.dtype()).hasToString(descr);
            assertThat(array.shape()).containsExactly(3, 2);
            assertThat(array.order()).isEqualTo(Order.C);
            assertThat(SourceFiles.data(array)).isEqualTo(SourceFiles.counting(6 * itemSize));
        }
        assertThat(plain.extents()).containsExactly(new Extent(plain.file(), 12, 6L * itemSize));
        assertThat(packed.extents()).isEmpty();
    }

    @Test
    void arraysWithoutDataAreArrays() throws Exception {
        SourceArray empty = only(SourceFiles.npy(folder.resolve("empty.npy"), "<f4", 0, 7));
        SourceArray packed =
                only(SourceFiles.write(folder.resolve("y-idx1-ubyte.gz"), SourceFiles.gzip(SourceFiles.idx(8, 1, 0))));

        assertThat(SourceFiles.data(empty)).isEmpty();
        assertThat(SourceFiles.data(packed)).isEmpty();
        assertThat(empty.shape()).containsExactly(0, 7);
    }

    @Test
    void linksAreFollowed() throws Exception {
        Path real = SourceFiles.npy(folder.resolve("real/a.npy"), "<f4", 3);
        Path linked = Files.createDirectories(folder.resolve("linked"));
        Files.createSymbolicLink(linked.resolve("file.npy"), real);
        Files.createSymbolicLink(linked.resolve("folder"), real.getParent());

        assertThat(ScannedSource.scan("set", linked, SourceOptions.none()).arrays())
                .extracting(array -> array.name().array())
                .containsExactly("file", "folder/a");
    }

    @Test
    void anUnchangedFileIsTheSameAndAChangedOneIsNot() throws Exception {
        Path file = SourceFiles.npy(folder.resolve("x.npy"), "<f4", 3);
        SourceIdentity identity = only(file).files().get(0);

        assertThat(SourceIdentity.of(file)).isEqualTo(identity);
        identity.requireUnchanged();
        Path other = SourceFiles.npy(folder.resolve("y.npy"), "<f4", 3);
        Files.setLastModifiedTime(other, Files.getLastModifiedTime(file));
        Files.move(other, file, StandardCopyOption.REPLACE_EXISTING);

        assertThat(SourceIdentity.of(file)).isNotEqualTo(identity);
        assertThatThrownBy(identity::requireUnchanged).hasMessageContaining("changed while it was read");
    }

    @Test
    void fashionMnistIsReadAsDebianShipsIt() throws Exception {
        assertThat(FashionMnist.FOLDER)
                .as("install the Debian package dataset-fashion-mnist")
                .isDirectory();

        ScannedSource source = ScannedSource.scan("mnist", FashionMnist.FOLDER, SourceOptions.none());

        assertThat(source.arrays())
                .extracting(array -> array.name() + " " + array.header())
                .containsExactly(
                        "mnist/t10k-images dtype=|u1 shape=[10000, 28, 28] order=C version=1 dataOffset=128",
                        "mnist/t10k-labels dtype=|u1 shape=[10000] order=C version=1 dataOffset=128",
                        "mnist/train-images dtype=|u1 shape=[60000, 28, 28] order=C version=1 dataOffset=128",
                        "mnist/train-labels dtype=|u1 shape=[60000] order=C version=1 dataOffset=128");
        byte[] images = SourceFiles.data(source.arrays().get(0));
        assertThat(sha256(images)).isEqualTo(sha256ByPython("t10k-images-idx3-ubyte.gz", 16));
    }

    private static String sha256(byte[] bytes) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    private static String sha256ByPython(String file, int offset) {
        String script = "import sys, gzip, hashlib; data = gzip.open(sys.argv[1]).read();"
                + " print(hashlib.sha256(data[int(sys.argv[2]):]).hexdigest())";
        return Numpy.run(script, FashionMnist.FOLDER.resolve(file).toString(), String.valueOf(offset))
                .trim();
    }

    private static SourceArray only(Path file) {
        return ScannedSource.scan("set", file, SourceOptions.none()).arrays().get(0);
    }
}
