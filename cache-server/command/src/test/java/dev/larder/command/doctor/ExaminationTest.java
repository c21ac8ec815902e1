package dev.larder.command.doctor;

import static dev.larder.command.doctor.FakeMachine.GIB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.command.doctor.Probes.DaemonAnswer;
import dev.larder.command.doctor.Probes.DeviceAnswer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.internal.posix.FileSystemSpace;
import dev.larder.server.store.StoreReport;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Spoils one thing of a machine at a time. */
class ExaminationTest {
    @TempDir
    Path root;

    private FakeMachine fake;

    @BeforeEach
    void makeUp() {
        fake = new FakeMachine(root);
    }

    private Finding find(String check) {
        return Examination.of(fake.machine()).stream()
                .filter(finding -> finding.check().equals(check))
                .findFirst()
                .orElseThrow();
    }

    private void requireFound(String check, Severity severity, String found, String remedy) {
        Finding finding = find(check);

        assertThat(finding.severity()).as(finding.toString()).isEqualTo(severity);
        assertThat(finding.found()).contains(found);
        assertThat(finding.remedy()).contains(remedy);
    }

    @Test
    void onAMachineInGoodOrderNothingNeedsHelp() {
        List<Finding> findings = Examination.of(fake.machine());

        assertThat(findings).hasSize(17).allMatch(finding -> finding.severity() == Severity.OK, "is ok");
        assertThat(findings)
                .allMatch(finding ->
                        finding.remedy().isEmpty() && !finding.found().isEmpty());
    }

    @Test
    void aJobWithASharedMemoryOfItsOwnIsToldThatOthersDoNotSeeIt() {
        fake.file("/proc/self/mountinfo", FakeMachine.MOUNTS + "60 25 0:39 / /dev/shm rw - tmpfs tmpfs rw\n");

        requireFound("mount-namespace", Severity.WARNING, "mount=/dev/shm", "larder serve --store /run/larder-shm/ada");

        fake.file("/proc/1/mountinfo", FakeMachine.MOUNTS + "61 25 0:39 / /other\\040place rw - tmpfs tmpfs rw\n");
        requireFound("mount-namespace", Severity.OK, "pid 1 sees", "");
        fake.without("/proc/1/mountinfo");
        requireFound("mount-namespace", Severity.OK, "cannot be determined", "");
    }

    @Test
    void aContainersSharedMemoryIsTooSmall() {
        fake.space = new FileSystemSpace(64L << 20, 64L << 20, 0, 0);

        requireFound("mount", Severity.PROBLEM, "too little for data", "remount,size=75% /dev/shm");
    }

    @Test
    void aMountThatIsNearlyFullIsTold() {
        fake.space = new FileSystemSpace(16 * GIB, GIB / 2, 0, 0);

        requireFound("mount", Severity.WARNING, "nearly full", "larder gc");
    }

    @Test
    void aStoreOnADiskIsTold() {
        fake.store = Path.of("/data/store");

        requireFound("mount", Severity.INFO, "type=overlay", "--store /dev/shm/larder-ada");
    }

    @Test
    void aStoreOnADiskInAContainerNeedsNothing() {
        fake.store = Path.of("/var/tmp/larder-ada");
        fake.smallMemory = Optional.of("/dev/shm is smaller than an eighth of the memory: bytes=67108864");

        requireFound("mount", Severity.INFO, "reason=it exists", "nothing, or");
        requireFound("mount", Severity.INFO, "on a disk (/dev/shm is smaller", "--shm-size=16g");
    }

    @Test
    void theMemoryOfTheGroupDoesNotLimitAStoreOnADisk() {
        fake.store = Path.of("/var/tmp/larder-ada");
        fake.file("/sys/fs/cgroup/user.slice/app.service/memory.max", "1073741824\n");
        fake.file("/proc/swaps", "Filename Type Size Used Priority\n/swap file 1 0 -2\n");

        requireFound("memory-limit", Severity.OK, "drops pages of a store on a disk", "");
        requireFound("swap", Severity.OK, "the store is not on a tmpfs", "");
    }

    @Test
    void aStoreNeedsAMountThatCanBeWrittenTo() {
        fake.file("/proc/self/mounts", "overlay / overlay rw 0 0\nshm /dev/shm tmpfs ro,nosuid 0 0\n");

        requireFound("mount", Severity.PROBLEM, "read-only", "mount -o remount,rw /dev/shm");
    }

    @ParameterizedTest
    @CsvSource({"0, PROBLEM, no file can be created", "5000, WARNING, may not fit"})
    void fewInodesAreTold(long free, Severity severity, String found) {
        fake.space = new FileSystemSpace(16 * GIB, 12 * GIB, 100_000, free);

        requireFound("inodes", severity, found, "nr_inodes=1m /dev/shm");
    }

    @ParameterizedTest
    @CsvSource({"huge=never, INFO, three times", "huge=always, WARNING, each file takes 2 MiB", "rw, INFO, huge=never"})
    void hugePagesThatWouldHelpOrHurtAreTold(String option, Severity severity, String found) {
        fake.file("/proc/self/mounts", "shm /dev/shm tmpfs rw," + option + " 0 0\n");

        requireFound("huge-pages", severity, found, "mount -o remount,huge=advise /dev/shm");
    }

    @Test
    void aMountWithoutHugePagesIsInOrderWhereTheKernelGivesThemOnRequest() {
        fake.file("/proc/self/mounts", "shm /dev/shm tmpfs rw,huge=never 0 0\n");
        fake.givesHugePages = true;

        requireFound("huge-pages", Severity.OK, "huge=never, but the kernel gives them on request", "");
    }

    @Test
    void aKernelThatHasTooFewHugePagesForTheStoreIsTold() {
        fake.file("/proc/self/mounts", "shm /dev/shm tmpfs rw,huge=never 0 0\n");
        fake.givesHugePages = true;
        fake.refusedHugeBytes = 6L << 20;

        requireFound("huge-pages", Severity.INFO, "none for 6.0 MiB of the store", "compact_memory");
    }

    @Test
    void aKernelThatDeniesHugePagesToAllMountsIsTold() {
        fake.file("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "always within_size advise never [deny] force");

        requireFound("huge-pages", Severity.INFO, "denies", "echo never > /sys/kernel/mm");
    }

    @Test
    void aMemoryLimitBelowTheMountIsToldAlsoOfAGroupAbove() {
        fake.file("/sys/fs/cgroup/user.slice/memory.max", Long.toString(4 * GIB));

        requireFound("memory-limit", Severity.WARNING, "limit=4 GiB", "systemctl set-property user.slice MemoryMax=");
        assertThat(find("memory-limit").found()).contains("charged", "/sys/fs/cgroup/user.slice/memory.max");
    }

    @Test
    void aMemoryLimitOfTheOldKindIsReadToo() {
        fake.file("/proc/self/cgroup", "4:memory:/docker/abc\n1:cpu:/\n");
        fake.file("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", Long.toString(2 * GIB));

        requireFound("memory-limit", Severity.WARNING, "limit=2 GiB", "memory.limit_in_bytes");
    }

    @Test
    void aMemoryLimitAboveTheMountIsFine() {
        fake.file("/sys/fs/cgroup/user.slice/app.service/memory.max", Long.toString(64 * GIB));

        requireFound("memory-limit", Severity.OK, "limit=64 GiB", "");
    }

    @Test
    void fewOpenFilesAreToldByTheHardLimitAlone() {
        fake.limits("1024", "65536", "unlimited");
        requireFound("open-files", Severity.OK, "soft=1024 hard=65536", "");

        fake.limits("1024", "1024", "unlimited");
        requireFound("open-files", Severity.WARNING, "hard=1024", "ulimit -Hn");
    }

    @Test
    void fewMappingsAndLittleLockedMemoryAreTold() {
        fake.limits("65536", "65536", "65536").file("/proc/sys/vm/max_map_count", "1000");

        requireFound("mappings", Severity.WARNING, "max_map_count=1000", "sysctl -w vm.max_map_count");
        requireFound("locked-memory", Severity.INFO, "soft=65536", "ulimit -l unlimited");
    }

    @Test
    void limitsThatCannotBeReadAreTold() {
        fake.without("/proc/7/limits").without("/proc/sys/vm/max_map_count");

        requireFound("open-files", Severity.INFO, "cannot be read", "mount /proc");
        requireFound("locked-memory", Severity.INFO, "cannot be read", "mount /proc");
        requireFound("mappings", Severity.INFO, "cannot be read", "mount /proc");
    }

    @Test
    void removeIpcEndangersOrdinaryUsersWhoDoNotLinger() {
        fake.without("/etc/systemd/logind.conf.d/larder.conf");
        requireFound("remove-ipc", Severity.WARNING, "uid=1000", "loginctl enable-linger ada");

        fake.file("/var/lib/systemd/linger/ada", "");
        requireFound("remove-ipc", Severity.OK, "lingers", "");
    }

    @Test
    void removeIpcSparesSystemUsersStoresElsewhereAndMachinesWithoutSystemd() {
        fake.without("/etc/systemd/logind.conf.d/larder.conf");
        fake.uid = 999;
        requireFound("remove-ipc", Severity.OK, "system users", "");

        fake.uid = 1000;
        fake.store = Path.of("/data/store");
        requireFound("remove-ipc", Severity.OK, "not in /dev/shm", "");

        fake.without("/run/systemd/system/x").without("/run/systemd/system");
        requireFound("remove-ipc", Severity.OK, "systemd does not run", "");
    }

    @Test
    void swapIsToldTheMoreTheEagerTheKernelIs() {
        fake.file("/proc/swaps", "Filename Type Size\n/swap file 1\n");
        requireFound("swap", Severity.WARNING, "vm.swappiness=60", "sysctl -w vm.swappiness=1");

        fake.file("/proc/sys/vm/swappiness", "1");
        requireFound("swap", Severity.INFO, "vm.swappiness=1", "swapoff -a");
    }

    @ParameterizedTest
    @CsvSource({
        "default, not spread, larder serve --numa interleave",
        "bind:1, not spread, larder serve --numa interleave",
        "interleave:0-1, spread over all, numactl --cpunodebind=0 larder serve --numa local"
    })
    void severalMemoryNodesAreToldWithThePolicyOfTheDaemon(String policy, String found, String remedy) {
        fake.file("/sys/devices/system/node/has_memory", "0-1");
        fake.memoryPolicy = policy;

        requireFound("memory-nodes", Severity.INFO, "nodes=0-1 policy=" + policy, remedy);
        requireFound("memory-nodes", Severity.INFO, found, remedy);
    }

    @Test
    void aPathTooLongForASocketIsTold() {
        fake.store = Path.of("/dev/shm/" + "x".repeat(100));

        requireFound("socket-path", Severity.PROBLEM, "limit=107", "LARDER_STORE=/dev/shm/larder-ada");
    }

    @ParameterizedTest
    @CsvSource({
        "NONE, , INFO, none at the store, larder serve",
        "SILENT, deadline passed, PROBLEM, deadline passed, kill -CONT 7; if that does not help, kill -9",
        "HANGING, at Files.exists, PROBLEM, at Files.exists, kill -9",
        "RUNNING, 0.0.1, WARNING, version=0.0.1, larder stop --keep"
    })
    void aDaemonThatIsAbsentSilentOrOfAnotherReleaseIsTold(
            DaemonAnswer.State state, String version, Severity severity, String found, String remedy) {
        fake.daemon = new DaemonAnswer(state, String.valueOf(version), "kill -CONT 7");

        requireFound("daemon", severity, found, remedy);
    }

    @Test
    void storesOfDeadDaemonsAreTold() {
        Path dead = Path.of("/dev/shm/larder-dead");
        fake.leftovers = List.of(
                new StoreReport(dead, StoreReport.State.DEAD, "", 3, 4096, 0, List.of(), List.of()),
                new StoreReport(Path.of("/live"), StoreReport.State.LIVE, "", 0, 0, 0, List.of(), List.of()));

        requireFound("leftovers", Severity.WARNING, "bytes=4096 stores=/dev/shm/larder-dead", "larder gc");
    }

    @Test
    void computedDataOfADeadDaemonIsTakenOverBeforeAnythingIsRemoved() {
        Path computed = Path.of("/dev/shm/larder-made");
        fake.leftovers =
                List.of(new StoreReport(computed, StoreReport.State.COMPUTED, "", 3, 4096, 0, List.of(), List.of()));

        requireFound("leftovers", Severity.WARNING, "stores=" + computed, "larder serve --store " + computed);
    }

    @ParameterizedTest
    @CsvSource({"1.8, PROBLEM, too old", "11, PROBLEM, too old", "99, INFO, newer than any"})
    void aJavaThatIsTooOldOrUntriedIsTold(String release, Severity severity, String found) {
        fake.property("java.specification.version", release);

        requireFound("java", severity, found, "JAVA_HOME");
    }

    @Test
    void aJavaWithoutACompilerIsTold() {
        fake.withoutModule("jdk.compiler");

        requireFound("java", Severity.PROBLEM, "jdk.compiler", "install a JDK");
    }

    @Test
    void aTemporaryFolderThatNothingRunsFromIsTold() {
        fake.file("/proc/self/mounts", "tmpfs /tmp tmpfs rw,noexec,nosuid 0 0\nshm /dev/shm tmpfs huge=advise 0 0\n");
        requireFound("temporary-folder", Severity.PROBLEM, "noexec", "-Djna.tmpdir=");

        fake.property("jna.tmpdir", "/opt");
        requireFound("temporary-folder", Severity.OK, "folder=/opt", "");
    }

    @Test
    void theTemporaryFolderIsTheOneThatJnaChooses() {
        String mounts = "/proc/self/mounts";
        fake.file(
                mounts,
                "tmpfs /tmp tmpfs noexec 0 0\nhome /home tmpfs noexec 0 0\nshm /dev/shm tmpfs huge=advise 0 0\n");
        requireFound("temporary-folder", Severity.PROBLEM, "folder=/tmp", "-Djna.tmpdir=");

        fake.file("/home/ada/.cache/JNA/temp/x", "");
        requireFound("temporary-folder", Severity.PROBLEM, "folder=/home/ada/.cache/JNA/temp", "-Djna.tmpdir=");

        fake.variable("XDG_CACHE_HOME", "/cache").file("/cache/JNA/temp/x", "");
        requireFound("temporary-folder", Severity.OK, "folder=/cache/JNA/temp", "");
    }

    @Test
    void whatOpenClLacksIsTold() {
        fake.file("/etc/OpenCL/vendors/gone.icd", "libgone.so\n");
        requireFound("opencl", Severity.WARNING, "broken=[gone.icd=libgone.so]", "install the library");

        fake.without("/etc/OpenCL/vendors/gone.icd").withoutLibrary("libOpenCL.so.1");
        requireFound("opencl", Severity.WARNING, "no loader: [pocl.icd]", "ocl-icd-libopencl1");

        fake.without("/etc/OpenCL/vendors/pocl.icd");
        requireFound("opencl", Severity.INFO, "library=none", "pocl-opencl-icd");
    }

    @Test
    void aLoaderWithoutADriverIsTold() {
        fake.without("/etc/OpenCL/vendors/pocl.icd");

        requireFound("opencl", Severity.INFO, "no driver", "pocl-opencl-icd");
    }

    @Test
    void anNvidiaDriverThatNobodyRegisteredIsTold() {
        fake.library("libnvidia-opencl.so.1");
        requireFound("opencl", Severity.WARNING, "not registered", "OCL_ICD_VENDORS=libnvidia-opencl.so.1");

        fake.variable("OCL_ICD_VENDORS", "libnvidia-opencl.so.1");
        requireFound("opencl", Severity.OK, "platforms=[libnvidia-opencl.so.1] devices=[opencl:0 H200]", "");

        fake.variable("OCL_ICD_VENDORS", "").file("/etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
        requireFound("opencl", Severity.OK, "libnvidia-opencl.so.1, libpocl.so]", "");
    }

    @ParameterizedTest
    @CsvSource({
        "/opt/libgone.so, WARNING, broken=[OCL_ICD_VENDORS=/opt/libgone.so]",
        "/opt/vendors, OK, platforms=[libpocl.so]",
        "/opt/vendors/mine.icd, OK, platforms=[libpocl.so]",
        "pocl.icd, OK, platforms=[libpocl.so]",
        "libpocl.so, OK, platforms=[libpocl.so]",
        "/opt/none, WARNING, broken=[OCL_ICD_VENDORS=/opt/none]"
    })
    void theDriversAreThoseThatTheEnvironmentNames(String chosen, Severity severity, String found) {
        fake.file("/opt/vendors/mine.icd", "libpocl.so\n").variable("OCL_ICD_VENDORS", chosen);

        requireFound("opencl", severity, found, severity == Severity.OK ? "" : "unset OCL_ICD_VENDORS");
    }

    @ParameterizedTest
    @CsvSource({
        "LISTED, INFO, 'drivers, but no device', nvidia-smi",
        "REFUSED, WARNING, exitCode=1, larder devices --debug",
        "DIED, WARNING, crashes the process, OCL_ICD_VENDORS=LIBRARY larder devices",
        "SILENT, WARNING, hangs, OCL_ICD_VENDORS=LIBRARY larder devices"
    })
    void driversThatListNoDevicesAreTold(DeviceAnswer.Ending ending, Severity severity, String found, String remedy) {
        fake.devices = DeviceAnswer.without(ending, "exitCode=1");

        requireFound("opencl", severity, found, remedy);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCheckThatFailsIsAFinding(boolean known) {
        RuntimeException failure = known
                ? Failure.of(ErrorCode.UNEXPECTED, "cannot reach the C library").exception()
                : new IllegalStateException("odd");
        Check failing = new Check() {
            @Override
            public String name() {
                return "failing";
            }

            @Override
            public Finding look(Machine machine) {
                throw failure;
            }
        };

        Finding finding = Examination.look(failing, fake.machine());

        assertThat(finding.severity()).isEqualTo(known ? Severity.PROBLEM : Severity.WARNING);
        assertThat(finding.found()).contains(known ? "C library" : "odd");
    }
}
