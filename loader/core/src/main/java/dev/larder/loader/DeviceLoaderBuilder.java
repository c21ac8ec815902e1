package dev.larder.loader;

import dev.larder.client.ArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceBackend;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.transform.SampleKernel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;

/** Configures how a {@link DeviceLoader} uses its devices. */
public final class DeviceLoaderBuilder {
    private static final Logger LOG = Logs.of(DeviceLoaderBuilder.class);

    /** Pages of the host are shared in pieces that a buffer of Java can hold. */
    private static final long MAX_SHARED_BYTES = 1 << 30;

    /** The consumer has a deadline; the thread that uploads ahead of it has none of its own, and is done with batches later. */
    private static final LoaderBuilder.Delivery UPLOADED = new LoaderBuilder.Delivery(Deadline.FOREVER, true);

    private final LoaderBuilder loader;
    private final List<Device> devices;
    private DeviceMode mode = DeviceMode.AUTO;
    private long budgetBytes = -1;
    private int slots = 4;

    DeviceLoaderBuilder(LoaderBuilder loader, List<Device> devices) {
        if (devices.isEmpty()) {
            throw new IllegalArgumentException("name a device, such as Device.auto()");
        }
        this.loader = loader;
        this.devices = devices;
    }

    /** Sets how rows get to the device; {@link DeviceMode#AUTO} by default. */
    public DeviceLoaderBuilder mode(DeviceMode newMode) {
        mode = newMode;
        return this;
    }

    /** Sets how many bytes of a device {@link DeviceMode#AUTO} may fill with whole arrays; half of its memory by default. */
    public DeviceLoaderBuilder budget(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("budget is negative: bytes=" + bytes);
        }
        budgetBytes = bytes;
        return this;
    }

    /** Sets how many batches can be on their way to a device or there, those that are open included; 4 by default. */
    public DeviceLoaderBuilder slots(int count) {
        slots = LoaderBuilder.require(count, 1, 1 << 10, "slots");
        return this;
    }

    /**
     * Opens the devices, takes their memory and starts the threads. With too little memory of a device there are fewer slots. If there
     * is not even one, arrays are streamed instead of resident, unless {@code RESIDENT} was asked for and the device may not fall back
     * to the host; then batches stay on the host, if it may; else it fails with {@code NO_SPACE} and numbers.
     */
    public DeviceLoader build() {
        List<DeviceBackend> backends = open();
        if (backends.isEmpty()) {
            return onHost();
        }
        try {
            return onDevices(backends);
        } catch (LarderException e) {
            backends.forEach(DeviceBackend::close);
            if (e.code() != ErrorCode.NO_SPACE || !mayFallBack()) {
                throw e;
            }
            LOG.warn(
                    "no room on the device: batches stay in host memory: devices={} reason={}",
                    devices,
                    e.getMessage());
            return onHost();
        } catch (Throwable e) {
            backends.forEach(DeviceBackend::close);
            throw e;
        }
    }

    private boolean mayFallBack() {
        return devices.stream().allMatch(Device::fallsBackToHost);
    }

    /** Opens all devices; none where one of them stands for the host. */
    private List<DeviceBackend> open() {
        List<DeviceBackend> backends = new ArrayList<>();
        try {
            for (Device device : devices) {
                DeviceBackend backend = device.open();
                if (backend == null) {
                    backends.forEach(DeviceBackend::close);
                    return List.of();
                }
                backends.add(backend);
            }
        } catch (Throwable e) {
            backends.forEach(DeviceBackend::close);
            throw e;
        }
        return List.copyOf(backends);
    }

    private DeviceLoader onHost() {
        Source source = loader.source(FieldOpener.RowsForm.finished(loader.transformSeed()));
        int prefetch = Math.max(slots, loader.prefetch());
        LoaderBuilder.Delivery delivery = new LoaderBuilder.Delivery(loader.timeout(), true);
        Loader host = loader.build(source, loader.allocator(), prefetch, delivery);
        DeviceFeed feed = new HostFeed(host, host.states(), loader.timeout());
        return new DeviceLoader(host, feed, new DeviceLoader.Plan(Optional.empty(), 0, host.slotBytes(), prefetch));
    }

    private DeviceLoader onDevices(List<DeviceBackend> backends) {
        long copiedBytes = wholeArrays()
                .filter(array -> !ResidentArray.isShared(backends, array))
                .mapToLong(ArrayView::byteSize)
                .sum();
        long budget = budgetBytes >= 0
                ? budgetBytes
                : backends.stream()
                        .mapToLong(device -> device.info().memoryBytes() / 2)
                        .min()
                        .orElseThrow();
        DeviceMode chosen =
                mode != DeviceMode.AUTO ? mode : copiedBytes <= budget ? DeviceMode.RESIDENT : DeviceMode.STREAM;
        LOG.info(
                "device loader: mode={} bytesToBeResident={} budgetBytes={} devices={}",
                chosen,
                copiedBytes,
                budget,
                backends);
        if (chosen == DeviceMode.STREAM) {
            return onDevices(backends, chosen);
        }
        try {
            return onDevices(backends, chosen);
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NO_SPACE || (mode == DeviceMode.RESIDENT && !mayFallBack())) {
                throw e;
            }
            LOG.warn(
                    "arrays do not fit on the device and are streamed: bytes={} reason={}",
                    copiedBytes,
                    e.getMessage());
            return onDevices(backends, DeviceMode.STREAM);
        }
    }

    /** Finds the arrays that would be resident. */
    private Stream<ArrayView> wholeArrays() {
        return Source.wanted(loader.dataset(), loader.fields()).stream()
                .filter(field -> field.form() == Field.Form.ROWS)
                .map(Field::column)
                .distinct()
                .map(loader.dataset()::array)
                .filter(DeviceFields::mayBeResident);
    }

    private DeviceLoader onDevices(List<DeviceBackend> backends, DeviceMode chosen) {
        boolean doubles = backends.stream().allMatch(device -> device.info().doubles());
        boolean exactFloats = backends.stream().allMatch(device -> device.info().exactFloats());
        DeviceFields form = new DeviceFields(
                loader.transformSeed(),
                doubles,
                exactFloats,
                array -> chosen == DeviceMode.RESIDENT ? Optional.of(shards(backends, array)) : Optional.empty());
        Source source = loader.source(form);
        requireDivisible(source, backends.size());
        DeviceMeans means = new DeviceMeans(backends, new ArrayList<>(), new ArrayList<>());
        Loader host = null;
        try {
            for (DeviceBackend device : backends) {
                means.residents().add(residents(device, source));
            }
            host = loader.build(source, backends.get(0), loader.prefetch(), UPLOADED);
            allocateSlots(source, means);
            DeviceLoader.Plan plan = new DeviceLoader.Plan(
                    Optional.of(chosen),
                    means.byteSize(),
                    host.slotBytes(),
                    means.slots().size());
            return new DeviceLoader(
                    host, new UploadingFeed(host, source, host.states(), means, loader.timeout()), plan);
        } catch (Throwable e) {
            means.free();
            if (host != null) {
                host.close();
            }
            throw e;
        }
    }

    private static void requireDivisible(Source source, int devices) {
        for (FieldReader field : source.fields()) {
            if (devices > 1 && field instanceof PackedReader) {
                throw source.failure(ErrorCode.BAD_INPUT, "batches of this column cannot be divided among devices")
                        .with("column", field.column())
                        .with("devices", devices)
                        .remedy("pad its rows instead of packing them, or use one device");
            }
        }
    }

    private SampleKernel.Rows shards(List<DeviceBackend> backends, ArrayView array) {
        long limit = backends.stream()
                .mapToLong(device -> device.info().unifiedMemory()
                        ? Math.min(MAX_SHARED_BYTES, device.info().maxAllocationBytes())
                        : device.info().maxAllocationBytes())
                .min()
                .orElseThrow();
        return ResidentArray.divide(array.rows(), array.rowByteSize(), limit)
                .orElseThrow(() -> Failure.of(
                                ErrorCode.NO_SPACE, "array cannot be split into pieces that the device can allocate")
                        .with("array", array.name())
                        .with("bytes", array.byteSize())
                        .with("rowBytes", array.rowByteSize())
                        .with("maxAllocation", limit)
                        .with("maxShards", SampleKernel.Rows.MAX_SHARDS)
                        .remedy("stream it: mode(DeviceMode.STREAM)"));
    }

    private Map<String, ResidentArray> residents(DeviceBackend device, Source source) {
        Map<String, ResidentArray> residents = new HashMap<>();
        long start = System.nanoTime();
        try {
            for (FieldReader field : source.fields()) {
                if (field instanceof DeviceReader reader
                        && reader.kernel().rows().located()) {
                    String name = reader.array().name();
                    if (!residents.containsKey(name)) {
                        residents.put(
                                name,
                                ResidentArray.load(
                                        device, reader.array(), reader.kernel().rows(), loader.timeout()));
                    }
                }
            }
        } catch (Throwable e) {
            residents.values().forEach(ResidentArray::close);
            throw e;
        }
        if (residents.isEmpty()) {
            return residents;
        }
        LOG.info(
                "arrays are resident: device={} arrays={} copiedBytes={} ms={}",
                device.info(),
                residents.keySet(),
                residents.values().stream()
                        .mapToLong(ResidentArray::copiedBytes)
                        .sum(),
                (System.nanoTime() - start) / 1_000_000);
        return residents;
    }

    /** Takes as many slots as wanted, or as the devices have room for: one at least. */
    private void allocateSlots(Source source, DeviceMeans means) {
        int share = (int) Plan.ceilDiv(loader.samples(source), means.backends().size());
        SlotPart.Layout layout = new SlotPart.Layout(DeviceOutput.of(source), source.arrays(), share);
        for (int i = 0; i < slots; i++) {
            try {
                means.slots().add(slot(layout, means));
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE || i == 0) {
                    throw e;
                }
                LOG.warn(
                        "fewer slots on the device, it has too little memory: slots={} wanted={} reason={}",
                        i,
                        slots,
                        e.getMessage());
                return;
            }
        }
    }

    private static DeviceSlot slot(SlotPart.Layout layout, DeviceMeans means) {
        List<SlotPart> parts = new ArrayList<>();
        try {
            for (int i = 0; i < means.backends().size(); i++) {
                parts.add(new SlotPart(
                        means.backends().get(i), layout, means.residents().get(i)));
            }
        } catch (Throwable e) {
            parts.forEach(SlotPart::close);
            throw e;
        }
        return new DeviceSlot(List.copyOf(parts));
    }
}
