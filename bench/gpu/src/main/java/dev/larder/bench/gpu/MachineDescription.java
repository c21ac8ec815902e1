package dev.larder.bench.gpu;

import dev.larder.loader.device.DeviceInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Describes the machine of the figures. */
final class MachineDescription {
    private MachineDescription() {}

    static void describe(Report report) throws IOException {
        report.machine("java", System.getProperty("java.version") + ", " + System.getProperty("java.vendor"));
        report.machine("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        report.machine(
                "processor",
                field(Path.of("/proc/cpuinfo"), "model name") + ", "
                        + Runtime.getRuntime().availableProcessors() + " processors");
        report.machine("memory", field(Path.of("/proc/meminfo"), "MemTotal"));
        report.machine("huge pages", read(Path.of("/sys/kernel/mm/transparent_hugepage/shmem_enabled")));
        report.machine("load before", load());
    }

    static void describe(Report report, Bench bench) {
        DeviceInfo info = bench.info();
        report.machine("device", info + ", " + info.kind() + ", " + info.computeUnits() + " units");
        report.machine("driver", info.platform() + ", " + info.driver());
        report.machine(
                "its memory",
                (info.memoryBytes() >> 20) + " MiB, at most " + (info.maxAllocationBytes() >> 20)
                        + " MiB for each allocation" + (info.unifiedMemory() ? ", shared with the host" : ""));
        List<String> extensions = Arrays.asList(bench.raw().extensions().split(" ", -1));
        report.machine(
                "extensions",
                extensions.size() + ", fp16 " + extensions.contains("cl_khr_fp16") + ", external memory "
                        + extensions.contains("cl_khr_external_memory_opaque_fd") + ", nv create buffer "
                        + extensions.contains("cl_nv_create_buffer"));
        bench.cuda().ifPresent(cuda -> report.machine("CUDA", cuda.describe()));
        report.machine(
                "scale",
                "arrays of " + UploadPart.size(bench.scale().arrayBytes()) + ", batches of "
                        + UploadPart.size(bench.scale().batchBytes()) + " and "
                        + UploadPart.size(bench.scale().residentBatchBytes()) + ", "
                        + bench.scale().each().toMillis() + " ms a figure, " + Bench.threads() + " gather threads");
    }

    static String load() {
        String load = read(Path.of("/proc/loadavg"));
        return load.isEmpty() ? "unknown" : load.substring(0, load.lastIndexOf(' '));
    }

    private static String field(Path file, String name) throws IOException {
        return Files.readAllLines(file).stream()
                .filter(line -> line.startsWith(name))
                .findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .orElse("unknown");
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
