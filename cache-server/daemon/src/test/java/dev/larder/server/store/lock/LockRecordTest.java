package dev.larder.server.store.lock;

import static dev.larder.server.store.lock.LockRecord.Contents.INTACT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.posix.Posix;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockRecordTest {
    @Test
    void whatIsWrittenIsReadBack() {
        LockRecord record = LockRecord.ofThisProcess(LockRecord.Contents.INTACT, Instant.now());

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
        LockRecord here = LockRecord.ofThisProcess(LockRecord.Contents.INTACT, Instant.now());

        assertThat(here.fitsThisBoot()).isTrue();
        assertThat(new LockRecord(1, "", "another", StoreLayout.FORMAT_VERSION, "", true, INTACT).fitsThisBoot())
                .isFalse();
        assertThat(new LockRecord(1, "", here.bootId(), StoreLayout.FORMAT_VERSION + 1, "", true, INTACT)
                        .fitsThisBoot())
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "pid=1 bootId=here formatVersion=1 clean=false, INTACT",
        "pid=1 bootId=here formatVersion=1 clean=true contents=unverified, UNVERIFIED",
        "pid=1 bootId=here formatVersion=1 clean=true contents=untrusted, UNTRUSTED",
        "pid=1 bootId=here formatVersion=1 clean=true contents=of-a-later-release, UNTRUSTED",
        "pid=1 bootId=here formatVersion=9 clean=true, UNTRUSTED",
        "pid=1 bootId=other formatVersion=1 clean=true, UNVERIFIED",
        "pid=1 bootId=other formatVersion=1 clean=true contents=untrusted, UNTRUSTED",
        "pid=1 bootId=other formatVersion=1 clean=false, UNTRUSTED",
        "clean=true, UNTRUSTED"
    })
    void whatIsTrustedAfterARestartFollowsFromBootAndStop(String record, LockRecord.Contents expected) {
        String text = record.replace(' ', '\n')
                .replace(
                        "here",
                        LockRecord.ofThisProcess(LockRecord.Contents.INTACT, Instant.now())
                                .bootId())
                .replace("formatVersion=1", "formatVersion=" + StoreLayout.FORMAT_VERSION);

        assertThat(LockRecord.parse(text).contentsFound(false)).isEqualTo(expected);
    }

    @Test
    void anEmptyRecordIsTrustedOnlyWhereNothingSurvivesAReboot() {
        assertThat(LockRecord.parse("").contentsFound(true)).isEqualTo(INTACT);
        assertThat(LockRecord.parse("").contentsFound(false)).isEqualTo(LockRecord.Contents.UNTRUSTED);
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
