package dev.larder.server.source.scan;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.ColumnPart;
import dev.larder.internal.protocol.LoadOptions.As;
import dev.larder.server.source.Exclusion;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImagesScanTest {
    private static final String JPEG = "ffd8ffe0";
    private static final ScanSettings FOR_LOAD =
            new ScanSettings(2, false, () -> false, checked -> {}).withChecksLater();

    @TempDir
    Path folder;

    private void image(String name, String hex) {
        SourceFiles.write(folder.resolve(name), HexFormat.of().parseHex(hex));
    }

    private ScannedSource scan(Path path, String... exclude) {
        return scan(path, new ScanSettings(2, false, () -> false, checked -> {}), exclude);
    }

    private static ScannedSource scan(Path path, ScanSettings settings, String... exclude) {
        SourceOptions options = new SourceOptions(List.of(), As.IMAGES, "", "", Exclusion.of(Arrays.asList(exclude)), "");
        return ScannedSource.scan("d", path, options, settings);
    }

    @Test
    void theFolderOfAnImageIsItsClass() throws IOException {
        image("dog/2.jpg", JPEG + "02");
        image("dog/10.JPEG", JPEG + "0a");
        image("cat/x.png", "89504e470d0a1a0a");
        image("cat/wrongly named.png", JPEG);
        SourceFiles.write(folder.resolve("cat/notes.txt"), "no image".getBytes(UTF_8));
        ScannedSource source = scan(folder);

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .containsExactly(
                        "classes/bytes",
                        "classes/offsets",
                        "image/offsets",
                        "image/values",
                        "label",
                        "path/bytes",
                        "path/offsets");
        assertThat(SourceFiles.text(source, "path/bytes"))
                .isEqualTo("cat/wrongly named.pngcat/x.pngdog/10.JPEGdog/2.jpg");
        assertThat(SourceFiles.text(source, "classes/bytes")).isEqualTo("catdog");
        assertThat(SourceFiles.longs(source, "label")).containsExactly(0L, 0L, 1L, 1L);
        assertThat(SourceFiles.array(source, "label").part()).isEqualTo(ColumnPart.NONE);
        assertThat(SourceFiles.longs(source, "image/offsets")).containsExactly(0L, 4L, 12L, 17L, 22L);
        assertThat(SourceFiles.data(SourceFiles.array(source, "image/values")))
                .isEqualTo(HexFormat.of().parseHex(JPEG + "89504e470d0a1a0a" + JPEG + "0a" + JPEG + "02"));
        assertThat(source.skippedFiles()).isEqualTo(1);
        SourceFiles.release(source);
    }

    @Test
    void splitsHaveColumnsOfTheirOwnAndNumberClassesAlike() throws IOException {
        image("train/cat/1.jpg", JPEG);
        image("train/dog/2.jpg", JPEG);
        image("val/dog/3.jpg", JPEG);
        image("val/fox/4.jpg", JPEG);
        ScannedSource source = scan(folder);

        assertThat(SourceFiles.text(source, "classes/bytes")).isEqualTo("catdogfox");
        assertThat(SourceFiles.longs(source, "train/label")).containsExactly(0L, 1L);
        assertThat(SourceFiles.longs(source, "val/label")).containsExactly(1L, 2L);
        assertThat(SourceFiles.text(source, "val/path/bytes")).isEqualTo("val/dog/3.jpgval/fox/4.jpg");
        assertThat(SourceFiles.longs(source, "train/image/offsets")).containsExactly(0L, 4L, 8L);
        SourceFiles.release(source);
    }

    @Test
    void imagesInNoFolderAndAloneHaveNoClass() throws IOException {
        image("1.jpg", JPEG);
        image("2.jpg", JPEG);
        for (Path path : List.of(folder, folder.resolve("2.jpg"))) {
            ScannedSource source = scan(path);

            assertThat(source.arrays())
                    .extracting(array -> array.name().array())
                    .containsExactly("image/offsets", "image/values", "path/bytes", "path/offsets");
            assertThat(SourceFiles.text(source, "path/bytes")).isEqualTo(path == folder ? "1.jpg2.jpg" : "2.jpg");
            SourceFiles.release(source);
        }
    }

    @Test
    void whatIsNoImageIsListedAllOfIt() {
        image("cat/1.jpg", JPEG);
        image("cat/2.jpg", "");
        image("cat/3.png", "3c68746d6c3e");
        image("dog/4.jpg", "ffd8");

        assertThatThrownBy(() -> scan(folder))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("badFiles=3")
                .hasMessageContaining("cat/2.jpg offset=0 reason=it is empty")
                .hasMessageContaining("cat/3.png reason=it is no image: it begins with 3c 68 74 6d 6c 3e")
                .hasMessageContaining("dog/4.jpg reason=it is no image: it begins with ff d8");
    }

    @Test
    void aScanForALoadLeavesTheBeginningsToTheCopy() {
        image("cat/1.jpg", JPEG);
        image("cat/2.jpg", "3c68746d6c3e");
        ScannedSource source = scan(folder, FOR_LOAD);
        SourceArray data = SourceFiles.array(source, "image/values");

        data.requireBeginning(0, bytes(JPEG));
        data.requireBeginning(0, bytes("ff")); // too few to tell by, as a batch may begin anywhere in a file
        assertThatThrownBy(() -> data.requireBeginning(1, bytes("3c")))
                .hasMessageContaining("cat/2.jpg reason=it is no image: it begins with 3c 68 74 6d 6c 3e");
        SourceFiles.release(source);
    }

    @Test
    void aScanForALoadThatRefusesAnythingListsWhatIsNoImageToo() {
        image("cat/1.jpg", "3c68746d6c3e");
        image("cat/2.jpg", "");

        assertThatThrownBy(() -> scan(folder, FOR_LOAD))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("cat/1.jpg reason=it is no image")
                .hasMessageContaining("cat/2.jpg offset=0 reason=it is empty");
        image("cat/2.jpg", JPEG);
        image("3.jpg", JPEG);
        assertThatThrownBy(() -> scan(folder, FOR_LOAD))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("cat/1.jpg reason=it is no image")
                .hasMessageContaining("3.jpg reason=it is 0 folders deep, but ")
                .hasMessageContaining("cat/1.jpg 1: the folder of an image is its class");
    }

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    @Test
    void anImageThatLiesDeeperThanOthersIsRefusedUnlessItIsLeftOut() {
        image("cat/1.jpg", JPEG);
        image("cat/more/2.jpg", JPEG);
        image("preview.jpg", JPEG);

        assertThatThrownBy(() -> scan(folder))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("cat/more/2.jpg reason=it is 2 folders deep, but ")
                .hasMessageContaining("preview.jpg reason=it is 0 folders deep, but ")
                .hasMessageContaining("--exclude");
        SourceFiles.release(scan(folder, "more", "preview.jpg"));
    }

    @Test
    void theFewerImagesOfAnotherDepthAreNamed() {
        image("a/b/0.jpg", JPEG);
        image("c/1.jpg", JPEG);
        image("c/2.jpg", JPEG);

        assertThatThrownBy(() -> scan(folder))
                .hasMessageStartingWith("cannot read source file: file=" + folder.resolve("a/b/0.jpg")
                        + " reason=it is 2 folders deep, but " + folder.resolve("c/1.jpg") + " 1: ");
    }

    @Test
    void whatIsNotTakenAndWhatTheLoaderMayNotReadIsSaid() {
        image("1.jpg", JPEG);
        image("2.webp", "524946460000000057454250");
        for (String name : List.of("3.ppm", "4.PPM", "README", "notes.txt")) {
            SourceFiles.write(folder.resolve(name), new byte[1]);
        }
        ScannedSource source = scan(folder);

        assertThat(source.notes())
                .satisfiesExactly(
                        others -> assertThat(others)
                                .contains(".jpg, .jpeg, .png")
                                .endsWith(": 2 .ppm, 1 .txt, 1 without a suffix"),
                        webp -> assertThat(webp)
                                .startsWith("images called .webp: 1; the Java loader decodes WebP only"));
        assertThat(ScannedSource.notes(List.of(source))).containsAll(source.notes());
        SourceFiles.release(source);
    }

    @Test
    void aSplitIsStoredUnderANameThatArraysMayHave() {
        image("my split/cat/1.jpg", JPEG);
        image("my split/dog/2.jpg", JPEG);
        ScannedSource source = scan(folder);

        assertThat(source.arrays())
                .extracting(array -> array.name().array())
                .contains("my_split/image/values", "my_split/label");
        SourceFiles.release(source);
    }

    @Test
    void aSplitWithTooLongANameIsRefusedOnce() {
        String split = "s".repeat(241);
        image(split + "/cat/1.jpg", JPEG);
        image(split + "/dog/2.jpg", JPEG);

        assertThatThrownBy(() -> scan(folder)).hasMessageContaining("its arrays cannot be called sss");
    }

    @Test
    void aFolderWithoutImagesNamesTheKinds() {
        SourceFiles.write(folder.resolve("a.txt"), new byte[1]);

        assertThatThrownBy(() -> scan(folder))
                .hasMessageContaining("skippedFiles=1")
                .hasMessageContaining(".jpg, .jpeg, .png");
    }

    @ParameterizedTest
    @CsvSource({
        "a.gif, 474946383961",
        "a.bmp, 424d0000",
        "a.tif, 49492a0008",
        "a.tiff, 4d4d002a00",
        "a.webp, 524946460000000057454250"
    })
    void otherKindsOfImagesAreTakenToo(String name, String hex) {
        image(name, hex);

        SourceFiles.release(scan(folder));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 8191, 8192, 100_000})
    void labelsAreReadInPiecesOfAnyLength(int pieceBytes) throws IOException {
        LabelData labels = new LabelData(3000, row -> row * 7L);
        ByteBuffer all = ByteBuffer.allocate(3000 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        try (ReadableByteChannel channel = labels.open()) {
            ByteBuffer piece = ByteBuffer.allocate(pieceBytes);
            while (channel.read(piece.clear()) >= 0) {
                all.put(piece.flip());
            }
        }

        assertThat(all.remaining()).isZero();
        assertThat(all.getLong(2999 * Long.BYTES)).isEqualTo(2999 * 7L);
        assertThat(all.getLong(1024 * Long.BYTES)).isEqualTo(1024 * 7L);
    }
}
