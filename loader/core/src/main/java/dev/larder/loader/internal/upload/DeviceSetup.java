package dev.larder.loader.internal.upload;

import dev.larder.client.ArrayView;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.internal.error.Failure;
import dev.larder.internal.error.Logs;
import dev.larder.internal.time.Deadline;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceMode;
import dev.larder.loader.internal.device.DeviceBackend;
import dev.larder.loader.internal.device.HostAllocator;
import dev.larder.loader.internal.device.InstalledDevices;
import dev.larder.loader.internal.device.KernelSource;
import dev.larder.loader.internal.field.DeviceFields;
import dev.larder.loader.internal.field.DeviceReader;
import dev.larder.loader.internal.field.FieldReader;
import dev.larder.loader.internal.field.FieldSpec;
import dev.larder.loader.internal.field.LoaderSource;
import dev.larder.loader.internal.field.RaggedReader;
import dev.larder.loader.internal.plan.Plan;
import dev.larder.loader.internal.ring.HostPipeline;
import dev.larder.loader.internal.ring.Pipeline;
import dev.larder.loader.internal.ring.PipelineSettings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;

/** Opens devices and a pipeline to them, or a pipeline on the host if they are unavailable and may fall back to it. */
public final class DeviceSetup {
    private static final Logger LOG = Logs.of(DeviceSetup.class);

    /** Upper limit of one shared piece of host memory, because a Java buffer must be able to hold it. */
    private static final long MAX_SHARED_BYTES = 1 << 30;

    private final PipelineSettings settings;
    private final Wishes wishes;
    private final List<Device> devices;

    /**
     * The requested devices and limits.
     *
     * @param budgetBytes limit in bytes for whole arrays on one device in {@link DeviceMode#AUTO}; negative for half of its memory
     * @param slots maximum number of batches on a device or in upload
     */
    public record Wishes(List<Device> devices, DeviceMode mode, long budgetBytes, int slots) {}

    private DeviceSetup(PipelineSettings settings, Wishes wishes) {
        this.settings = settings;
        this.wishes = wishes;
        this.devices = wishes.devices();
    }

    /**
     * Opens the devices, allocates their memory and starts the threads. If a device has too little memory, there are fewer slots. If
     * not even one fits, arrays are streamed instead of resident, unless {@code RESIDENT} was set and the device may not fall back
     * to the host. If there is still no slot, batches stay on the host if allowed; otherwise this fails with {@code NO_SPACE}.
     */
    public static Pipeline open(PipelineSettings settings, Wishes wishes) {
        return new DeviceSetup(settings, wishes).open();
    }

    private Pipeline open() {
        List<DeviceBackend> backends = openDevices();
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

    /** Opens all devices; returns an empty list if one of them is the host. */
    private List<DeviceBackend> openDevices() {
        List<DeviceBackend> backends = new ArrayList<>();
        try {
            for (Device device : devices) {
                DeviceBackend backend = InstalledDevices.open(device);
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

    private Pipeline onHost() {
        return HostPipeline.open(settings, Math.max(wishes.slots(), settings.prefetch()));
    }

    private Pipeline onDevices(List<DeviceBackend> backends) {
        long copiedBytes = wholeArrays()
                .filter(array -> !ResidentArray.isShared(backends, array))
                .mapToLong(ArrayView::byteSize)
                .sum();
        long budget = wishes.budgetBytes() >= 0
                ? wishes.budgetBytes()
                : backends.stream()
                        .mapToLong(device -> device.info().memoryBytes() / 2)
                        .min()
                        .orElseThrow();
        if (wishes.mode() == DeviceMode.RESIDENT && !mayComputeOnDevice()) {
            throw settings.data()
                    .failure(
                            ErrorCode.BAD_INPUT,
                            "rows of several datasets, and of batches that are collated, are not resident on a device")
                    .remedy("stream them: leave deviceMode(DeviceMode.RESIDENT) out");
        }
        DeviceMode chosen = wishes.mode() != DeviceMode.AUTO
                ? wishes.mode()
                : mayComputeOnDevice() && copiedBytes <= budget ? DeviceMode.RESIDENT : DeviceMode.STREAM;
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
            if (e.code() != ErrorCode.NO_SPACE || (wishes.mode() == DeviceMode.RESIDENT && !mayFallBack())) {
                throw e;
            }
            LOG.warn(
                    "arrays do not fit on the device and are streamed: bytes={} reason={}",
                    copiedBytes,
                    e.getMessage());
            return onDevices(backends, DeviceMode.STREAM);
        }
    }

    /** Returns whether kernels may gather and transform. The host joins several datasets and collates batches. */
    private boolean mayComputeOnDevice() {
        return settings.data().isOne() && settings.collation() == null;
    }

    /** Returns the arrays that would be resident. */
    private Stream<ArrayView> wholeArrays() {
        if (!mayComputeOnDevice()) {
            return Stream.empty();
        }
        return LoaderSource.wanted(settings.data(), settings.fields()).stream()
                .filter(FieldSpec::isStored)
                .map(FieldSpec::column)
                .distinct()
                .map(settings.data().datasets().get(0)::array)
                .filter(DeviceFields::mayBeResident);
    }

    private Pipeline onDevices(List<DeviceBackend> backends, DeviceMode chosen) {
        boolean doubles = backends.stream().allMatch(device -> device.info().doubles());
        boolean exactFloats = backends.stream().allMatch(device -> device.info().exactFloats());
        DeviceFields fields = new DeviceFields(
                doubles,
                exactFloats,
                array -> chosen == DeviceMode.RESIDENT ? Optional.of(shards(backends, array)) : Optional.empty());
        LoaderSource source = settings.source(mayComputeOnDevice() ? fields : null);
        requireDivisible(source, backends.size());
        DeviceResources resources = new DeviceResources(backends, new ArrayList<>(), new ArrayList<>());
        HostPipeline host = null;
        try {
            for (DeviceBackend device : backends) {
                resources.residents().add(residents(device, source));
            }
            host = new HostPipeline(source, settings, staging(backends.get(0)));
            allocateSlots(source, resources);
            return new DevicePipeline(host, resources, chosen, settings.timeout());
        } catch (Throwable e) {
            resources.free();
            if (host != null) {
                host.close();
            }
            throw e;
        }
    }

    /** The uploading thread has no deadline, unlike the consumer, and releases batches later. */
    private HostPipeline.Consumption staging(HostAllocator memory) {
        return new HostPipeline.Consumption(
                Collections.nCopies(settings.prefetch(), memory), null, Deadline.FOREVER, true);
    }

    private static void requireDivisible(LoaderSource source, int devices) {
        for (FieldReader field : source.fields()) {
            if (devices > 1 && field instanceof RaggedReader ragged && ragged.isPacked()) {
                throw source.failure(ErrorCode.BAD_INPUT, "batches of this column cannot be divided among devices")
                        .with("column", field.column())
                        .with("devices", devices)
                        .remedy("pad its rows instead of packing them, or use one device");
            }
        }
    }

    private KernelSource.Rows shards(List<DeviceBackend> backends, ArrayView array) {
        long limit = backends.stream()
                .mapToLong(device -> device.info().unifiedMemory()
                        ? Math.min(MAX_SHARED_BYTES, device.info().maxAllocationBytes())
                        : device.info().maxAllocationBytes())
                .min()
                .orElseThrow();
        int start = ResidentArray.start(backends, array);
        return ResidentArray.divide(array.rows(), array.rowByteSize(), limit - start)
                .map(rows -> rows.startingAt(start))
                .orElseThrow(() -> Failure.of(
                                ErrorCode.NO_SPACE, "array cannot be split into pieces that the device can allocate")
                        .with("array", array.name())
                        .with("bytes", array.byteSize())
                        .with("rowBytes", array.rowByteSize())
                        .with("maxAllocation", limit)
                        .with("maxShards", KernelSource.Rows.MAX_SHARDS)
                        .remedy("stream it: deviceMode(DeviceMode.STREAM)"));
    }

    private Map<String, ResidentArray> residents(DeviceBackend device, LoaderSource source) {
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
                                        device, reader.array(), reader.kernel().rows(), settings.timeout()));
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

    /** Allocates the requested number of slots, or as many as the devices have room for, but at least one. */
    private void allocateSlots(LoaderSource source, DeviceResources resources) {
        int share = (int)
                Plan.ceilDiv(settings.samples(source), resources.backends().size());
        DevicePart.Layout layout = new DevicePart.Layout(DeviceOutput.of(source), source.arrays(), share);
        for (int i = 0; i < wishes.slots(); i++) {
            try {
                resources.slots().add(slot(layout, resources));
            } catch (LarderException e) {
                if (e.code() != ErrorCode.NO_SPACE || i == 0) {
                    throw e;
                }
                LOG.warn(
                        "fewer slots on the device, it has too little memory: slots={} wanted={} reason={}",
                        i,
                        wishes.slots(),
                        e.getMessage());
                return;
            }
        }
    }

    private static DeviceSlot slot(DevicePart.Layout layout, DeviceResources resources) {
        List<DevicePart> parts = new ArrayList<>();
        try {
            for (int i = 0; i < resources.backends().size(); i++) {
                parts.add(new DevicePart(
                        resources.backends().get(i),
                        layout,
                        resources.residents().get(i)));
            }
        } catch (Throwable e) {
            parts.forEach(DevicePart::close);
            throw e;
        }
        return new DeviceSlot(List.copyOf(parts));
    }
}
