package dev.larder.server.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.layout.StoreLayout;
import dev.larder.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LockRecordTest {
    @Test
    void whatIsWrittenIsReadBack() {
        LockRecord record = LockRecord.ofThisProcess();

        assertThat(parse(record)).isEqualTo(record);
        assertThat(parse(record.stoppedInOrder())).isEqualTo(record.stoppedInOrder());
        assertThat(record.pid()).isEqualTo(ProcessHandle.current().pid());
        assertThat(record.isClean()).isFalse();
        assertThat(record.stoppedInOrder().isClean()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n\n", "=", "pid", "pid=", "pid=abc", "pid=99999999999999999999", "\0\0", "clean=yes"})
    void garbageReadsAsNobody(String text) {
        LockRecord record = LockRecord.parse(text);

        assertThat(record.pid()).isEqualTo(-1);
        assertThat(record.isClean()).isFalse();
        assertThat(record.fitsThisBoot()).isFalse();
    }

    @Test
    void linesOfLaterReleasesAreSkippedAndTheLastOfTwoCounts() {
        LockRecord record = LockRecord.parse("future=a=b\npid=1\nstarted=2026-01-01T00:00:00Z\npid=2\nclean=true");

        assertThat(record.pid()).isEqualTo(2);
        assertThat(record.started()).isEqualTo("2026-01-01T00:00:00Z");
        assertThat(record.isClean()).isTrue();
    }

    @Test
    void aRecordFitsOnlyItsOwnBootAndFormat() {
        LockRecord here = LockRecord.ofThisProcess();

        assertThat(here.fitsThisBoot()).isTrue();
        assertThat(new LockRecord(1, "", "another", StoreLayout.FORMAT_VERSION, true).fitsThisBoot())
                .isFalse();
        assertThat(new LockRecord(1, "", here.bootId(), StoreLayout.FORMAT_VERSION + 1, true).fitsThisBoot())
                .isFalse();
    }

    @Test
    void ofAFileThatSomebodyHasMadeLargeOnlyTheBeginningIsRead(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("lock"), "pid=7\n");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(1), 3L << 30);
        }
        int descriptor = Posix.system().openForReading(file);

        assertThat(LockRecord.read(descriptor).pid()).isEqualTo(7);
        assertThat(LockRecord.text(descriptor)).hasSize(4096);
        Posix.system().close(descriptor);
    }

    private static LockRecord parse(LockRecord record) {
        return LockRecord.parse(new String(record.toBytes(), StandardCharsets.UTF_8));
    }
}
