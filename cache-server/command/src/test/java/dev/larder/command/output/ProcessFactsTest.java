package dev.larder.command.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProcessFactsTest {
    private static final String STAT = "7 (a (b) c) T 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 12 0 987654 1 2 3";

    @TempDir
    Path processes;

    private ProcessFacts process(String stat, String cmdline) throws IOException {
        Path folder = Files.createDirectory(processes.resolve("7"));
        Files.writeString(folder.resolve("stat"), stat);
        Files.writeString(folder.resolve("status"), "Name:\ta (b) c\nUid:\t4242\t4242\t0\t0\nVmRSS:\t  2048 kB\n");
        Files.writeString(folder.resolve("cmdline"), cmdline);
        return ProcessFacts.of(processes, 7).orElseThrow();
    }

    @Test
    void readsWhatTheKernelTells() throws IOException {
        ProcessFacts process = process(STAT, "python\0train.py\0--lr\0001\0");

        assertThat(process.command()).isEqualTo("python train.py --lr 1");
        assertThat(process.uid()).isEqualTo(4242);
        assertThat(process.isStopped()).isTrue();
        assertThat(process.startTicks()).isEqualTo(987654);
        assertThat(process.cpuTicks()).isEqualTo(300);
        assertThat(process.residentBytes()).isEqualTo(2 << 20);
        assertThat(process.threads()).isEqualTo(12);
    }

    @Test
    void aCommandLineCannotGiveOrdersToTheTerminal() throws IOException {
        assertThat(process(STAT, "x\0\u001b[2J\n\u0007ü\0").command()).isEqualTo("x ?[2J ?ü");
    }

    @ParameterizedTest
    @CsvSource({
        "/usr/lib/jvm/bin/java|-Xmx1g|-cp|a.jar:b.jar|--add-opens|x/y=Z|my.Trainer|--lr|1, java my.Trainer --lr 1",
        "java|-XX:+UseZGC|-jar|t.jar|-x, java t.jar -x",
        "java|--class-path=a.jar|-Da=b|Main, java Main",
        "java|-m|mod/Main, java mod/Main",
        "java|-version, java -version",
        "/usr/bin/python3|-c|x, /usr/bin/python3 -c x"
    })
    void aJvmIsKnownByItsMainClassWithoutItsFlags(String words, String program) throws IOException {
        ProcessFacts process = process(STAT, words.replace('|', '\0') + '\0');

        assertThat(process.program()).isEqualTo(program);
        assertThat(process.command()).isEqualTo(words.replace('|', ' '));
    }

    @Test
    void withoutACommandLineTheNameStandsForIt() throws IOException {
        assertThat(process(STAT, "").command()).isEqualTo("[a (b) c]");
    }

    @Test
    void aProcessWhoseNameIsNoUtf8IsSeenToo() throws IOException {
        process(STAT, "");
        byte[] name = {'u', (byte) 0xc3, (byte) 0xbc, (byte) 0xff};
        String latin1 = new String(name, StandardCharsets.ISO_8859_1);
        for (String file : List.of("stat", "status")) {
            Path path = processes.resolve("7").resolve(file);
            String text = Files.readString(path).replace("a (b) c", latin1);
            Files.writeString(path, text, StandardCharsets.ISO_8859_1);
        }

        assertThat(ProcessFacts.of(processes, 7).orElseThrow().command()).isEqualTo("[uü\ufffd]");
    }

    @Test
    void whatIsNotThereOrHalfThereIsNoProcess() throws IOException {
        assertThat(ProcessFacts.of(processes, 8)).isEmpty();
        Files.writeString(Files.createDirectory(processes.resolve("9")).resolve("stat"), "9 (x) R 1");
        assertThat(ProcessFacts.of(processes, 9)).isEmpty();
    }

    @Test
    void thisProcessIsFound() {
        ProcessFacts self = ProcessFacts.of(ProcessHandle.current().pid()).orElseThrow();

        assertThat(self.user()).isEqualTo(System.getProperty("user.name"));
        assertThat(self.command()).contains("java");
    }
}
