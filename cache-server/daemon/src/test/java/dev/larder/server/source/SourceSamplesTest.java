package dev.larder.server.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.protocol.LoadOptions;
import dev.larder.server.source.scan.ScannedSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scan and a reading of the same file give the same sample. */
class SourceSamplesTest {
    private static final SourceOptions RAW = new SourceOptions(List.of(), LoadOptions.As.ARRAYS, "u1", "-1");

    @TempDir
    Path folder;

    @Test
    void aScanSamplesSmallFilesAsReadingThemDoes() throws IOException {
        for (int length : new int[] {1, 4_096, 8_192}) {
            SourceIdentity file = file(length);
            SourceSamples samples = scanned(file);

            assertThat(samples.of(file.file()))
                    .isEqualTo(SourceSamples.read(file))
                    .hasSize(16);
        }
    }

    @Test
    void longerFilesAreSampledAfterTheScan() throws IOException {
        SourceIdentity file = file(8_193);
        SourceSamples samples = scanned(file);

        assertThat(samples.of(file.file())).isEmpty();
        samples.read(List.of(file, file), 2);
        assertThat(samples.of(file.file())).isEqualTo(SourceSamples.read(file));
    }

    @Test
    void aChangedByteOfASmallFileGivesAnotherSample() throws IOException {
        SourceIdentity file = file(8_192);
        String before = scanned(file).of(file.file());
        byte[] bytes = Files.readAllBytes(file.file());
        bytes[8_191]++;
        Files.write(file.file(), bytes);
        Files.setLastModifiedTime(file.file(), FileTime.from(file.modifiedNanos(), TimeUnit.NANOSECONDS));

        assertThat(scanned(SourceIdentity.of(file.file())).of(file.file())).isNotEqualTo(before);
    }

    private SourceIdentity file(int length) throws IOException {
        return SourceIdentity.of(Files.write(folder.resolve("f" + length + ".bin"), new byte[length]));
    }

    private static SourceSamples scanned(SourceIdentity file) {
        SourceSamples samples = new SourceSamples();
        ScannedSource.scan("d", file.file(), RAW, ScanSettings.quick().withSamples(samples));
        return samples;
    }
}
