package dev.larder.bench.gpu;

import dev.larder.client.Dataset;
import dev.larder.loader.BatchChecksum;
import dev.larder.loader.Loader;
import dev.larder.loader.LoaderBuilder;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.transform.Transform;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/** Compares device batches with host batches, byte by byte. */
final class ExactPart {
    private static final String PART = "exact";
    private static final int BATCH = 96;
    private static final float[] MEANS = {0.485f, 0.456f, 0.406f};
    private static final float[] DEVIATIONS = {0.229f, 0.224f, 0.225f};

    private ExactPart() {}

    private static Map<String, Transform> ofPictures() {
        Map<String, Transform> transforms = new LinkedHashMap<>();
        transforms.put("as stored", new Transform());
        transforms.put("to f16", Bench.TO_HALF);
        transforms.put("to bf16", new Transform().toFloat().toBfloat16());
        transforms.put("normalised, channels first", normalised().channelsFirst());
        transforms.put(
                "cropped, mirrored, normalised, to f16",
                new Transform()
                        .randomCrop(28, 28, 4)
                        .randomFlip(0.5f)
                        .then(normalised())
                        .channelsFirst()
                        .cast("<f2"));
        return transforms;
    }

    private static Transform normalised() {
        return new Transform().toFloat().normalize(MEANS, DEVIATIONS);
    }

    static void run(Bench bench) throws Exception {
        compare(bench.report(), bench.store(), PART, bench.chosen());
    }

    /** Compares the results of all transforms on a device with those on the host. */
    static void compare(Report report, SyntheticStore store, String part, Device device) throws Exception {
        Case on = new Case(report, part, device);
        try (Dataset pictures = store.publish("pictures", "|u1", 1_000, 32, 32, 3)) {
            for (Map.Entry<String, Transform> each : ofPictures().entrySet()) {
                on.compare(pictures, "pictures, " + each.getKey(), each.getValue());
            }
        }
        try (Dataset labels = store.publish("labels", "|u1", 1_000)) {
            on.compare(labels, "one-hot labels", new Transform().oneHot(256));
        }
        try (Dataset numbers = store.publish("numbers", ">i4", 1_000, 17)) {
            on.compare(
                    numbers,
                    "big-endian numbers, scaled",
                    new Transform().cast("<f4").scale(0.1f, -3f));
        }
        for (String dataset : new String[] {"pictures", "labels", "numbers"}) {
            store.remove(dataset);
        }
    }

    private record Case(Report report, String part, Device device) {
        void compare(Dataset dataset, String what, Transform transform) {
            LoaderBuilder loader = Bench.loader(dataset, BATCH, transform);
            BatchChecksum expected = new BatchChecksum();
            try (Loader host = loader.build()) {
                host.epoch(1).forEach(expected::update);
            }
            for (DeviceMode mode : new DeviceMode[] {DeviceMode.STREAM, DeviceMode.RESIDENT}) {
                BatchChecksum found = new BatchChecksum();
                try (Loader onDevice = loader.device(device).deviceMode(mode).build()) {
                    onDevice.epoch(1).forEach(found::update);
                }
                report.add(Measurement.holds(
                        part,
                        what + ", " + mode.name().toLowerCase(Locale.ROOT),
                        found.value() == expected.value(),
                        String.format(Locale.ROOT, "crc32c host %08x device %08x", expected.value(), found.value())));
            }
        }
    }
}
