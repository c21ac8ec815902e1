package dev.larder.command;

import dev.larder.command.output.Json;
import dev.larder.command.output.JsonFields;
import dev.larder.command.output.Table;
import dev.larder.command.output.Units;
import dev.larder.error.ErrorCode;
import dev.larder.error.LarderException;
import dev.larder.loader.device.Device;
import dev.larder.loader.device.DeviceChoice;
import dev.larder.loader.device.DeviceInfo;
import dev.larder.loader.internal.device.InstalledDevices;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;

/** Lists the devices that a loader can deliver batches to. */
@Command(
        name = "devices",
        description = {
            "List the devices to which a loader can deliver batches.",
            "A star marks the one that Device.auto() chooses now, by $$LARDER_DEVICE and $$LOCAL_RANK."
        })
final class Devices implements Callable<Integer> {
    private static final List<String> HEADINGS =
            List.of("", ">INDEX", "BACKEND", "KIND", "NAME", ">MEMORY", ">LARGEST", ">UNITS", "DRIVER", "PLATFORM");

    @ParentCommand
    LarderCommand larder;

    @Option(names = "--json", description = "Print one JSON list, with all details of each device.")
    boolean json;

    /** Why batches stay in host memory; null if they do not, or if that is expected. */
    private @Nullable String reason;

    @Override
    public Integer call() {
        DeviceChoice auto = Device.auto();
        List<DeviceInfo> devices = list();
        Optional<DeviceInfo> taken = devices.isEmpty() ? Optional.empty() : takenBy(auto, devices);
        if (json) {
            larder.out().println(json(devices, taken));
            return 0;
        }
        if (!devices.isEmpty()) {
            table(devices, taken).forEach(larder.out()::println);
        }
        if (taken.isEmpty()) {
            larder.err().println("larder: batches stay in host memory" + (reason == null ? "" : ": " + reason));
        }
        return 0;
    }

    private List<DeviceInfo> list() {
        try {
            List<DeviceInfo> devices = InstalledDevices.find(null).devices();
            reason = devices.isEmpty() ? "drivers list no device; see `larder doctor`" : null;
            return devices;
        } catch (LarderException e) {
            if (e.code() != ErrorCode.NOT_FOUND) {
                throw e;
            }
            reason = e.getMessage();
            return List.of();
        }
    }

    private Optional<DeviceInfo> takenBy(DeviceChoice auto, List<DeviceInfo> devices) {
        try {
            Optional<DeviceInfo> taken = auto.among(devices);
            reason = taken.isEmpty() ? "$LARDER_DEVICE says so" : null;
            return taken;
        } catch (LarderException e) {
            reason = e.getMessage();
            return Optional.empty();
        }
    }

    private static List<String> table(List<DeviceInfo> devices, Optional<DeviceInfo> taken) {
        Table table = Table.of(HEADINGS);
        for (DeviceInfo device : devices) {
            table.row(List.of(
                    taken.filter(device::equals).isPresent() ? "*" : "",
                    Integer.toString(device.index()),
                    device.backend(),
                    device.kind(),
                    device.name(),
                    Units.size(device.memoryBytes()),
                    Units.size(device.maxAllocationBytes()),
                    Integer.toString(device.computeUnits()),
                    device.driver(),
                    device.platform()));
        }
        return table.lines();
    }

    private static String json(List<DeviceInfo> devices, Optional<DeviceInfo> taken) {
        return Json.document(devices.stream()
                .map(device -> new JsonFields()
                        .with("index", device.index())
                        .with("backend", device.backend())
                        .with("name", device.name())
                        .with("kind", device.kind())
                        .with("platform", device.platform())
                        .with("driver", device.driver())
                        .with("memoryBytes", device.memoryBytes())
                        .with("maxAllocationBytes", device.maxAllocationBytes())
                        .with("computeUnits", device.computeUnits())
                        .with("unifiedMemory", device.unifiedMemory())
                        .with("doubles", device.doubles())
                        .with("exactFloats", device.exactFloats())
                        .with("auto", taken.filter(device::equals).isPresent()))
                .toList());
    }
}
