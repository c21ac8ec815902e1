package dev.larder.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.larder.client.DatasetBuilder;
import dev.larder.client.Larder;
import dev.larder.client.OwnedArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.layout.StoreLayout;
import dev.larder.internal.protocol.ArrayRow;
import dev.larder.internal.protocol.ErrorRow;
import dev.larder.npy.Dtype;
import dev.larder.testing.ChildJvm;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.NoSuchElementException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;

/** A store on a disk whose machine was restarted, in order or not: another boot id stands in its lock. */
class RebootTest {
    private static final int KILLED = 137;

    /** So much that it is still being compared when the test goes on. */
    private static final long LONG_COMPARISON_BYTES = 128 << 20;

    @TempDir
    Path folder;

    private ServedStore served;

    @BeforeEach
    void create() {
        served = ServedStore.at(folder.resolve("store"));
    }

    @AfterEach
    void close() {
        served.close();
    }

    @Test
    void everythingIsThereAgainAfterACleanStop() throws IOException {
        served.start();
        fill();
        served.control().stop(true, progress -> {});
        reboot();
        Files.delete(folder.resolve("sourced.npy"));
        Files.delete(folder.resolve("pinned.npy"));

        served.start();

        assertThat(valueOf("computed")).isEqualTo(1);
        assertThat(valueOf("sourced")).isEqualTo(2);
        assertThat(valueOf("pinned")).isEqualTo(3);
        assertThat(valueOf("registered")).isEqualTo(4);
        assertThat(row("pinned").pinned()).isTrue();
        assertThat(row("computed").version()).isEqualTo(1);
        assertThat(aside("x", 7)).exists();
        assertThat(served.control().errors()).isEmpty();
    }

    @Test
    void afterACrashWhatHasASourceIsLoadedAgainAndTheRestIsSetAsideAndNamed() throws IOException {
        ChildJvm first = served.startProcess();
        fill();
        first.kill();
        reboot();

        served.start();

        requireNothingLost();
    }

    @Test
    void aStartThatWasCutShortAfterACrashTrustsNoMoreThanTheNext() throws IOException {
        ChildJvm first = served.startProcess();
        fill();
        first.kill();
        changeLock("contents=.*", "contents=untrusted");

        served.start();

        requireNothingLost();
    }

    @Test
    void aPinSurvivesAlsoWhereTheDatasetIsLoadedAgain() throws IOException {
        ChildJvm first = served.startProcess();
        fill();
        first.kill();
        reboot();

        served.start();

        Awaitility.await()
                .ignoreException(NoSuchElementException.class) // while it is scanned, no array of it is known
                .until(() -> row("pinned").state() == ArrayRow.State.RESIDENT);
        assertThat(row("pinned").pinned()).isTrue();
    }

    @Test
    void bytesThatChangedWhileTheMachineWasDownAreNeverServed() throws IOException {
        served.start();
        fill();
        served.control().stop(true, progress -> {});
        spoil(served.layout().version("computed", 1).resolve("data.npy"));
        spoil(served.layout().version("sourced", 1).resolve("sourced.npy"));
        reboot();

        served.start();

        assertThatThrownBy(() -> valueOf("computed")).isInstanceOf(LarderException.class);
        assertThat(valueOf("sourced")).isEqualTo(2);
        Awaitility.await()
                .untilAsserted(() ->
                        assertThat(aside("computed", 1).resolve("data.npy")).exists());
        Awaitility.await()
                .untilAsserted(() -> assertThat(served.control().errors())
                        .extracting(ErrorRow::message)
                        .anySatisfy(message -> assertThat(message).contains("computed/1.damaged")));
        assertThat(row("pinned").state()).isEqualTo(ArrayRow.State.RESIDENT);
    }

    @Test
    void aLoadOfWhatIsBeingVerifiedFindsThatItIsThere() throws IOException {
        served.start();
        fill();
        served.control().stop(true, progress -> {});
        reboot();

        served.start();
        served.load("sourced", folder.resolve("sourced.npy"));

        assertThat(row("sourced").version()).isEqualTo(1);
        assertThat(valueOf("sourced")).isEqualTo(2);
    }

    @Test
    void whoWaitsForAComparisonThatFindsDamageHasTheDatasetLoadedAgain() throws IOException {
        served.start();
        served.load("sourced", ServedStore.writeHole(folder.resolve("sourced.npy"), LONG_COMPARISON_BYTES));
        served.control().stop(true, progress -> {});
        spoil(served.layout().version("sourced", 1).resolve("sourced.npy"));
        reboot();

        served.start();
        served.control().await("sourced", Duration.ofMinutes(1), progress -> {});

        assertThat(row("sourced").version()).isEqualTo(2);
        assertThat(row("sourced").state()).isEqualTo(ArrayRow.State.RESIDENT);
    }

    @Test
    void aVersionThatCouldNotBePutInPlaceIsComparedAgainForWhoeverWaitsForIt() throws IOException {
        served.start();
        served.load("sourced", ServedStore.writeHole(folder.resolve("sourced.npy"), LONG_COMPARISON_BYTES));
        served.control().stop(true, progress -> {});
        reboot();
        Path inTheWay = served.layout().current("sourced");
        served.start();
        try {
            Files.createDirectory(inTheWay);
        } catch (FileAlreadyExistsException e) {
            throw new TestAbortedException("the comparison has ended already", e);
        }
        Awaitility.await()
                .untilAsserted(() -> assertThat(messages()).contains("version cannot be verified after a restart"));
        Files.delete(inTheWay);

        served.control().await("sourced", Duration.ofMinutes(1), progress -> {});

        assertThat(row("sourced").version()).isEqualTo(1);
        assertThat(row("sourced").state()).isEqualTo(ArrayRow.State.RESIDENT);
    }

    @Tag("slow")
    @Test
    void aDaemonThatIsKilledAtTheEndOfItsStopLosesNothing() throws IOException {
        requireNothingLostUnsaid("fsync");
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"syncfs", "ftruncate", "pwrite64"})
    void aDaemonThatIsKilledWithinItsStopLosesNothingUnsaid(String call) throws IOException {
        requireNothingLostUnsaid(call);
    }

    private void requireNothingLostUnsaid(String call) throws IOException {
        ChildJvm daemon = served.startProcess();
        compute("computed", 1);
        Strace.killAt(daemon.pid(), call, 1, this::stopOrLose);
        assertThat(daemon.awaitExit()).as("killed").isEqualTo(KILLED);
        boolean wasClean = Files.readString(served.layout().lock()).contains("clean=true");
        assertThat(wasClean)
                .as("only what was synced counts as clean")
                .isEqualTo(call.equals("fsync")); // which comes after the record; the catalog is cut to its size before
        reboot();

        served.start();

        if (wasClean) {
            assertThat(valueOf("computed")).isEqualTo(1);
        } else {
            assertThat(aside("computed", 1).resolve("data.npy")).exists();
            assertThat(messages()).contains("computed/1.damaged");
        }
    }

    private void stopOrLose() {
        try {
            served.control().stop(true, progress -> {});
        } catch (LarderException killed) {
            assertThat(killed.code()).isNotEqualTo(ErrorCode.USAGE);
        }
    }

    /** One of each kind: computed, sourced, pinned, registered, and what an earlier daemon had set aside. */
    private void fill() throws IOException {
        compute("computed", 1);
        served.load("sourced", ServedStore.writeInts(folder.resolve("sourced.npy"), 2));
        served.load("pinned", ServedStore.writeInts(folder.resolve("pinned.npy"), 3));
        served.control().pin("pinned");
        Path source = ServedStore.writeInts(folder.resolve("registered.npy"), 4);
        served.control().load(ServedStore.request("registered", source).withRegisterOnly(true), progress -> {});
        Files.createDirectories(aside("x", 7));
    }

    private void compute(String name, int value) {
        try (Larder larder = Larder.connect(served.root());
                DatasetBuilder array = larder.create(name, Dtype.parse("<i4"), 1)) {
            array.array().write(0, value);
            array.publish();
        }
    }

    private void requireNothingLost() {
        assertThat(valueOf("sourced")).isEqualTo(2);
        assertThat(valueOf("pinned")).isEqualTo(3);
        assertThat(valueOf("registered")).isEqualTo(4);
        assertThat(aside("computed", 1).resolve("data.npy")).exists();
        assertThat(aside("x", 7)).exists();
        assertThat(messages()).contains("computed/1.damaged");
        assertThatThrownBy(() -> valueOf("computed"))
                .isInstanceOfSatisfying(
                        LarderException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NOT_FOUND));
    }

    private String messages() {
        return String.join(
                "\n", served.control().errors().stream().map(ErrorRow::message).toList());
    }

    private Path aside(String dataset, long version) {
        return served.layout().dataset(dataset).resolve(version + ".damaged");
    }

    private ArrayRow row(String dataset) {
        return served.control().list("", true).stream()
                .filter(row -> row.name().equals(dataset) || row.name().startsWith(dataset + "/"))
                .findFirst()
                .orElseThrow();
    }

    private int valueOf(String name) {
        try (Larder larder = Larder.connect(served.root());
                OwnedArrayView view = larder.open(name)) {
            return view.getInt(0);
        }
    }

    private void reboot() throws IOException {
        changeLock("bootId=.*", "bootId=another");
    }

    private void changeLock(String what, String with) throws IOException {
        Path lock = new StoreLayout(served.root()).lock();
        Files.writeString(lock, Files.readString(lock).replaceAll(what, with));
    }

    private static void spoil(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {77}), StoreLayout.DATA_START);
        }
    }
}
