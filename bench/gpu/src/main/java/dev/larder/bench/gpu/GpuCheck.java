package dev.larder.bench.gpu;

import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceChoice;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.InstalledDevices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks the first OpenCL device, or the chosen one, and prints each figure with its limit. The exit code is 0 if no target of this
 * machine was missed.
 *
 * <pre>{@code
 * GpuCheck [--quick] [--json FILE] [--device INDEX] [--only PART,PART…] [--store-in FOLDER]
 * }</pre>
 */
public final class GpuCheck {
    private final Options options;
    private final Report report;

    private GpuCheck(Options options, Report report) {
        this.options = options;
        this.report = report;
    }

    /** A group of figures. */
    @FunctionalInterface
    private interface Part {
        void run(Bench bench) throws Exception;
    }

    private static Map<String, Part> parts() {
        Map<String, Part> parts = new LinkedHashMap<>();
        parts.put("exact", ExactPart::run);
        parts.put("upload", UploadPart::run);
        parts.put("writing", WriteStylePart::run);
        parts.put("gather", GatherPart::run);
        parts.put("stream", LoaderPart::stream);
        parts.put("overlap", KernelPart::overlap);
        parts.put("resident", KernelPart::gather);
        parts.put("loader", LoaderPart::resident);
        parts.put("calls", QueuePart::calls);
        parts.put("latency", QueuePart::latency);
        parts.put("cost", CostPart::run);
        parts.put("trainers", ProcessesPart::run);
        parts.put("cuda", bench -> CudaPart.run(bench.report(), bench.store(), bench.scale()));
        return parts;
    }

    /** The options of the command line. */
    private record Options(boolean quick, @Nullable Path json, int device, Set<String> only, Path storeParent) {
        static Options parse(String[] words) {
            boolean quick = false;
            Path json = null;
            int device = -1;
            Set<String> only = parts().keySet();
            Path storeParent = Path.of("/dev/shm");
            for (int i = 0; i < words.length; i++) {
                switch (words[i]) {
                    case "--quick" -> quick = true;
                    case "--json" -> json = Path.of(value(words, ++i));
                    case "--device" -> device = Integer.parseInt(value(words, ++i));
                    case "--only" -> only = Set.of(value(words, ++i).split(",", -1));
                    case "--store-in" -> storeParent = Path.of(value(words, ++i));
                    default -> throw new IllegalArgumentException("unknown option: " + words[i]);
                }
            }
            if (!parts().keySet().containsAll(only)) {
                throw new IllegalArgumentException("unknown part: only=" + only + "; choose from " + parts().keySet());
            }
            return new Options(quick, json, device, only, storeParent);
        }

        private static String value(String[] words, int place) {
            if (place >= words.length) {
                throw new IllegalArgumentException("option without a value: " + words[place - 1]);
            }
            return words[place];
        }
    }

    /** Runs the check and ends the process. */
    public static void main(String[] words) throws Exception {
        System.exit(run(words, System.out));
    }

    /** Runs the check; returns the exit code of the report, or 2 for wrong usage. */
    static int run(String[] words, PrintStream out) throws Exception {
        Options options;
        try {
            options = Options.parse(words);
        } catch (IllegalArgumentException e) {
            out.println(e.getMessage());
            out.println("usage: [--quick] [--json FILE] [--device INDEX] [--only PART,PART] [--store-in FOLDER]");
            return 2;
        }
        return new GpuCheck(options, new Report(out)).run();
    }

    private int run() throws Exception {
        MachineDescription.describe(report);
        int code;
        try (DeviceBackend device = open()) {
            if (device != null) {
                measure(device);
            }
        } finally {
            report.machine("load after", MachineDescription.load());
            code = report.end();
            Path json = options.json();
            if (json != null) {
                Files.writeString(json, report.json());
            }
        }
        return code;
    }

    private @Nullable DeviceBackend open() {
        DeviceChoice choice = Device.opencl();
        try {
            return InstalledDevices.open(options.device() < 0 ? choice : choice.index(options.device()));
        } catch (LarderException e) {
            report.heading();
            report.add(Measurement.notApplicable("all", "every figure of OpenCL", String.valueOf(e.getMessage())));
            cudaAlone();
            return null;
        }
    }

    /** Measures only the CUDA driver, because there is no OpenCL. */
    private void cudaAlone() {
        try (SyntheticStore store = create()) {
            CudaPart.run(report, store, options.quick() ? Scale.quick() : Scale.full(options.storeParent(), true));
        } catch (Exception | LinkageError e) {
            report.add(Measurement.holds("cuda", "runs to the end", false, String.valueOf(e)));
        }
        Optional<Cuda> found = Cuda.open(report);
        if (found.isEmpty()) {
            return;
        }
        try (Cuda cuda = found.get()) {
            report.machine("CUDA", cuda.describe());
            for (long bytes = 4 << 10; bytes <= 256 << 20; bytes *= 4) {
                report.add(UploadPart.ofCuda(cuda, Scale.quick(), bytes));
            }
        } catch (Exception e) {
            report.add(Measurement.notApplicable("upload", "CUDA's own copies", String.valueOf(e.getMessage())));
        }
    }

    private void measure(DeviceBackend device) throws Exception {
        DeviceInfo info = device.info();
        Scale scale = options.quick()
                ? Scale.quick()
                : Scale.full(options.storeParent(), info.kind().equals("gpu"));
        Optional<Cuda> cuda = info.kind().equals("gpu") ? Cuda.open(report) : Optional.empty();
        try (RawOpenCl raw = new RawOpenCl(device);
                SyntheticStore store = create()) {
            Bench bench = new Bench(device, raw, cuda, store, scale, new Limits(), report);
            MachineDescription.describe(report, bench);
            report.heading();
            for (Map.Entry<String, Part> part : parts().entrySet()) {
                if (options.only().contains(part.getKey())) {
                    run(part.getKey(), part.getValue(), bench);
                }
            }
            notOurs();
        } finally {
            cuda.ifPresent(Cuda::close);
        }
    }

    private SyntheticStore create() throws IOException {
        return SyntheticStore.create(options.storeParent());
    }

    /** Runs a part. If it fails, the table contains the failure, and the next parts run. */
    private void run(String name, Part part, Bench bench) {
        try {
            part.run(bench);
        } catch (Exception | LinkageError e) {
            String trace =
                    e + " at " + List.of(e.getStackTrace()).stream().limit(3).toList();
            report.add(Measurement.holds(name, "runs to the end", false, trace));
        }
    }

    /** Reports measurements of the research that do not apply to this loader. */
    private void notOurs() {
        List<Measurement> more = new ArrayList<>();
        more.add(Measurement.notApplicable("shared", "CUDA IPC and VMM descriptors", "the loader has no mode SHARED"));
        more.add(Measurement.notApplicable(
                "zero-copy",
                "kernels that gather from host memory",
                "only on devices with unified memory, in mode RESIDENT"));
        more.forEach(report::add);
    }
}
