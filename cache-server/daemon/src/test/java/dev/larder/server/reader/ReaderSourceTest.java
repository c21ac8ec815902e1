package dev.larder.server.reader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.larder.reader.InputFile;
import dev.larder.reader.ReadRequest;
import dev.larder.server.source.ScanSettings;
import dev.larder.server.source.SourceIdentity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReaderSourceTest {
    @TempDir
    Path folder;

    @Test
    void everyThreadThatAsksForDataHearsOfTheSameFailure() throws Exception {
        Path file = Files.writeString(folder.resolve("x.hostile"), "write-half\n");
        ReadRequest request = new ReadRequest(List.of(new InputFile(file, "")), "arrays", List.of(), 1);
        try (ReaderSource source =
                ReaderSource.open(hostile(), List.of(SourceIdentity.of(file)), request, ScanSettings.quick())) {

            Throwable first = catchThrowable(() -> source.deliver(0, bytes -> {}, bytes -> {}));
            Throwable second = catchThrowable(() -> source.deliver(1, bytes -> {}, bytes -> {}));

            assertThat(first).hasMessageContaining("the reader wrote another number of bytes than it offered");
            assertThat(second).isSameAs(first);
        }
    }

    private Readers.Known hostile() {
        Properties properties = new Properties();
        properties.setProperty("names", "(?<stem>.+)\\.hostile");
        properties.setProperty("classpath", CodeSources.of(HostileReader.class).toString());
        return new Readers.Known(ReaderSpec.of("hostile", properties), folder);
    }
}
