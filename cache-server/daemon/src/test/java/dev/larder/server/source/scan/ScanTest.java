package dev.larder.server.source.scan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.server.source.Exclusion;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceArray;
import dev.larder.server.source.SourceOptions;
import dev.larder.server.source.formats.DiscoveredFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Folders of very many files. */
@Timeout(300)
class ScanTest {
    private static final int FILES = 1500;

    @TempDir
    private Path folder;

    @Test
    void severalThreadsFindWhatOneFinds() {
        writeFiles();

        ScannedSource alone = ScannedSource.scan("set", folder, SourceOptions.none());
        ScannedSource together = ScannedSource.scan("set", folder, SourceOptions.none(), workers(4));

        assertThat(looks(together)).isEqualTo(looks(alone)).hasSize(FILES);
        assertThat(together.arrays()).extracting(array -> array.name().array()).isSorted();
    }

    private static List<List<Object>> looks(ScannedSource source) {
        return source.arrays().stream()
                .map(array -> List.<Object>of(array.name(), array.header(), array.extents(), array.files()))
                .toList();
    }

    @Test
    void equalHeadersAreParsedOnce() {
        writeFiles();

        ScannedSource source = ScannedSource.scan("set", folder, SourceOptions.none(), workers(2));

        assertThat(source.arrays())
                .extracting(array -> System.identityHashCode(array.header()))
                .satisfies(headers -> assertThat(headers.stream().distinct()).hasSizeLessThanOrEqualTo(7));
    }

    @Test
    void ofThousandsOfBadFilesTheFirstTenAndTheCountAreNamed() {
        for (int i = 0; i < FILES; i++) {
            SourceFiles.write(folder.resolve(String.format("bad%04d.npy", i)), new byte[3]);
        }

        Throwable alone = catchThrowable(() -> ScannedSource.scan("set", folder, SourceOptions.none()));
        Throwable together = catchThrowable(() -> ScannedSource.scan("set", folder, SourceOptions.none(), workers(4)));

        assertThat(together).hasMessage(String.valueOf(alone.getMessage()));
        assertThat(String.valueOf(together.getMessage()).lines()).hasSize(12);
        assertThat(together)
                .hasMessageContaining("badFiles=1500")
                .hasMessageContaining("bad0000.npy")
                .hasMessageContaining("bad0009.npy")
                .hasMessageContaining("and 1490 more");
    }

    @Test
    void theFirstBadFilesAreNamedEvenIfTheyAreTheLastToBeRead() {
        for (int i = 0; i < FILES; i++) {
            SourceFiles.write(folder.resolve(String.format("bad%04d.npy", i)), new byte[3]);
        }
        FileListing listing = FileListing.of(folder, Exclusion.of(List.of()), ScanSettings.quick());
        List<DiscoveredFile> files = new ArrayFiles(SourceOptions.none(), false).wanted(listing, listing.files());
        AtomicInteger batches = new AtomicInteger();
        AtomicInteger read = new AtomicInteger();
        BooleanSupplier holdsTheFirst = () -> {
            for (boolean isFirst = batches.getAndIncrement() == 0; isFirst && read.get() < FILES - 64; ) {
                Thread.onSpinWait();
            }
            return false;
        };
        ScanSettings settings = new ScanSettings(2, false, holdsTheFirst, read::addAndGet);

        List<LarderException> refusals =
                Scan.of("set", files, SourceOptions.none(), settings).refusals();

        assertThat(refusals).hasSize(FILES);
        for (int i = 0; i < 1000; i++) {
            assertThat(refusals.get(i)).hasMessageContaining(String.format("bad%04d.npy", i));
        }
    }

    @Test
    void hiddenFilesAndFoldersAreLeftOutAndCounted() {
        SourceFiles.npy(folder.resolve("a.npy"), "<f4", 3);
        SourceFiles.write(folder.resolve("._a.npy"), new byte[3]);
        SourceFiles.npy(folder.resolve(".ipynb_checkpoints/a-checkpoint.npy"), "<f4", 3);

        ScannedSource source = ScannedSource.scan("set", folder, SourceOptions.none());

        assertThat(source.arrays()).hasSize(1);
        assertThat(source.hiddenFiles()).isEqualTo(2);
        assertThat(source.skippedFiles()).isZero();
    }

    @Test
    void aHiddenFileThatIsNamedItselfIsLoaded() {
        Path file = SourceFiles.npy(folder.resolve(".a.npy"), "<f4", 3);

        assertThat(ScannedSource.scan("set", file, SourceOptions.none()).arrays())
                .hasSize(1);
    }

    @Test
    void aFolderThatIsCalledLikeAFileIsAFolder() {
        SourceFiles.npy(folder.resolve("s1_rgb.npy/s2_rgb.npy"), "<f4", 3);
        SourceFiles.npy(folder.resolve("other.npy/s3_rgb.npy"), "<f4", 3);

        for (List<String> keys : List.of(List.<String>of(), List.of("rgb"))) {
            assertThat(ScannedSource.scan("set", folder, new SourceOptions(keys), workers(2))
                            .arrays())
                    .extracting(array -> array.name().array())
                    .containsExactly("other.npy/s3_rgb", "s1_rgb.npy/s2_rgb");
        }
    }

    @Test
    void aHeaderLongerThanTheFirstReadIsReadWhole() {
        String fields =
                "[" + "('a_rather_long_name_of_a_field', '<f4'), ".repeat(1).replace("name", "name".repeat(150))
                        + "('b', '<f4')]";
        Path file = SourceFiles.npy(folder.resolve("wide.npy"), fields, 3);

        SourceArray array =
                ScannedSource.scan("set", file, SourceOptions.none()).arrays().get(0);

        assertThat(array.header().dataOffset()).isGreaterThan(512);
        assertThat(array.dtype().fields()).hasSize(2);
    }

    @Test
    void aScanThatIsCancelledEnds() {
        writeFiles();
        AtomicInteger checked = new AtomicInteger();
        ScanSettings settings = new ScanSettings(2, false, () -> checked.get() > 0, checked::addAndGet);

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, SourceOptions.none(), settings))
                .isInstanceOf(CancellationException.class);
        assertThat(checked).hasValueLessThan(FILES);
    }

    @Test
    void everyBadFileIsCountedWhereThereAreGoodOnes() throws Exception {
        writeFiles();
        Path pipe = folder.resolve("pipe.npy");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        Files.createSymbolicLink(folder.resolve("nowhere.npy"), Path.of("absent"));

        assertThatThrownBy(() -> ScannedSource.scan("set", folder, SourceOptions.none(), workers(3)))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_INPUT))
                .hasMessageContaining("badFiles=2")
                .hasMessageContaining("pipe.npy reason=it is a pipe, device or socket, not a regular file")
                .hasMessageContaining("nowhere.npy reason=it is a dangling link");
    }

    private void writeFiles() {
        for (int i = 0; i < FILES; i++) {
            SourceFiles.npy(folder.resolve((i % 3) + "/file" + i + ".npy"), "<i2", i % 7);
        }
    }

    private static ScanSettings workers(int workers) {
        return new ScanSettings(workers, false, () -> false, checked -> {});
    }
}
