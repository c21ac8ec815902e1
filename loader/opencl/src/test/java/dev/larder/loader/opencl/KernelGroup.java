package dev.larder.loader.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.larder.loader.device.KernelCase;
import dev.larder.loader.internal.transform.SampleKernel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Many kernels built as one, which is told which of them to be: a program takes much longer to build than a function. */
final class KernelGroup {
    private final List<KernelCase> cases;
    private final int shards;

    KernelGroup(List<KernelCase> cases) {
        this.cases = cases;
        this.shards = cases.stream()
                .mapToInt(each -> each.kernel().rows().shards())
                .max()
                .orElseThrow();
    }

    /** Runs all, and compares what they make with what the host makes. */
    void check(KernelDevice device) {
        List<byte[]> made = run(device);
        for (int i = 0; i < made.size(); i++) {
            KernelCase each = cases.get(i);
            assertThat(each.withPlainNans(made.get(i))).as("%s", each).isEqualTo(each.withPlainNans(each.expected()));
        }
    }

    /** Runs all, and returns what they make. */
    List<byte[]> run(KernelDevice device) {
        List<byte[]> made = new ArrayList<>();
        try (KernelDevice.Built built = device.build(source(), "choose")) {
            for (int i = 0; i < cases.size(); i++) {
                KernelCase each = cases.get(i);
                List<byte[]> sources = new ArrayList<>(each.sources());
                sources.addAll(Collections.nCopies(shards - sources.size(), new byte[1]));
                int[] numbers = {i, each.samples()};
                int items = each.kernel().itemsPerSample();
                made.add(built.run(numbers, items, each.samples(), each.control(), each.targetBytes(), sources));
            }
        }
        return made;
    }

    private String source() {
        StringBuilder all = new StringBuilder();
        StringBuilder choice =
                new StringBuilder("__kernel void choose(uint which, uint samples, __global const int *control");
        choice.append(", __global uchar *target");
        for (int i = 0; i < shards; i++) {
            choice.append(", __global const uchar *source").append(i);
        }
        choice.append(") {\n  switch (which) {\n");
        for (int i = 0; i < cases.size(); i++) {
            SampleKernel kernel = cases.get(i).kernel();
            all.append(kernel.text().replace("larder_", "larder" + i + "_").replace("__kernel ", ""));
            choice.append("  case ").append(i).append(": larder").append(i);
            choice.append("_samples(samples, control, target");
            for (int j = 0; j < kernel.rows().shards(); j++) {
                choice.append(", source").append(j);
            }
            choice.append("); break;\n");
        }
        return all.append(choice).append("  }\n}\n").toString();
    }
}
