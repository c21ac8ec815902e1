package dev.larder.command.grid;

import com.google.gson.JsonObject;
import dev.larder.command.doctor.DeviceQuestion;
import dev.larder.command.doctor.Probes.DeviceAnswer;
import dev.larder.error.ErrorCode;
import dev.larder.internal.error.Failure;
import dev.larder.launch.process.PoolSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The slots of jobs, one for each device, with the variables that show a job only that device.
 *
 * @param wanted {@code all}, a number of devices, or their indices among those that this process sees
 * @param perDevice the number of jobs that share a device
 * @param visible {@code CUDA_VISIBLE_DEVICES} of this process; null without it
 */
public record DeviceSlots(
        String wanted, int perDevice, @Nullable String visible) {
    public static final String ALL = "all";
    private static final String HOST = "host";
    private static final String CUDA = "cuda:";
    private static final Pattern NUMBERS = Pattern.compile("\\d{1,4}(,\\d{1,4})*,?");
    private static final int MOST = 1024;

    /**
     * A GPU of the drivers.
     *
     * @param choice its name for {@code LARDER_DEVICE}
     * @param isNvidia whether {@code CUDA_VISIBLE_DEVICES} can hide it
     */
    private record Gpu(String choice, boolean isNvidia) {}

    /** Checks the choice of devices. */
    public static void check(String wanted) {
        boolean isNumber = NUMBERS.matcher(wanted).matches();
        boolean isCount = isNumber && wanted.indexOf(',') < 0;
        int count = isCount ? Integer.parseInt(wanted) : 1;
        if (!wanted.equals(ALL) && (!isNumber || count == 0 || count > MOST)) {
            throw Failure.of(ErrorCode.USAGE, "not a choice of devices")
                    .with("devices", wanted)
                    .remedy("give all, how many (4), or which (0,2; one alone as 2,)");
        }
    }

    /** Returns the slots. It lists the GPUs of the drivers if the result depends on them, and adds notes for the user. */
    public List<PoolSlot> slots(Supplier<List<String>> gpus, boolean isCudaMachine, List<String> notes) {
        boolean all = wanted.equals(ALL);
        List<Gpu> found = all || isCudaMachine ? counted(gpus.get()) : List.of();
        if (all && found.isEmpty()) {
            notes.add("no GPU found: jobs run on the host, " + perDevice + " at a time; --devices N or --per-device N"
                    + " runs more");
            return copies(HOST, Map.of("LARDER_DEVICE", HOST));
        }
        List<PoolSlot> slots = new ArrayList<>();
        for (int device : devices(found.size())) {
            slots.addAll(copies(Integer.toString(device), environment(device, found)));
        }
        return slots;
    }

    private List<Integer> devices(int found) {
        List<Integer> devices = new ArrayList<>();
        if (wanted.indexOf(',') >= 0) {
            for (String device : wanted.split(",", 0)) {
                devices.add(Integer.valueOf(device));
            }
            return devices;
        }
        int count = wanted.equals(ALL) ? found : Integer.parseInt(wanted);
        for (int device = 0; device < count; device++) {
            devices.add(device);
        }
        return devices;
    }

    /** Returns a slot for a number: of CUDA if there are devices that it can hide; else of all GPUs. */
    private static List<Gpu> counted(List<String> gpus) {
        List<Gpu> all = gpus.stream().map(DeviceSlots::gpu).toList();
        List<Gpu> nvidia = all.stream().filter(Gpu::isNvidia).toList();
        return nvidia.isEmpty() ? all : nvidia;
    }

    /** Returns the variables of a job. With a single visible CUDA device, it has the number of the first one of its platform. */
    private Map<String, @Nullable String> environment(int device, List<Gpu> found) {
        String choice = Integer.toString(device);
        if (device < found.size()) {
            choice = found.get(found.get(0).isNvidia() ? 0 : device).choice();
        }
        return Map.of("CUDA_VISIBLE_DEVICES", cuda(device), "LARDER_DEVICE", choice);
    }

    /** Returns the name of a CUDA device by its number among the visible ones. */
    private String cuda(int device) {
        if (visible == null || visible.isBlank()) {
            return Integer.toString(device);
        }
        String[] names = visible.strip().split("\\s*,\\s*", -1);
        if (device >= names.length) {
            throw Failure.of(ErrorCode.USAGE, "no such device among those that are visible")
                    .with("device", device)
                    .with("CUDA_VISIBLE_DEVICES", visible)
                    .remedy("choose among " + names.length + ", or unset the variable");
        }
        return names[device];
    }

    private List<PoolSlot> copies(String name, Map<String, @Nullable String> environment) {
        List<PoolSlot> slots = new ArrayList<>();
        for (int copy = 1; copy <= perDevice; copy++) {
            slots.add(new PoolSlot(perDevice == 1 ? name : name + ":" + copy, environment));
        }
        return slots;
    }

    /** Lists the GPUs of the drivers in a process of its own. */
    public static List<String> ask(List<String> notes) {
        DeviceAnswer answer = DeviceQuestion.ofThisCommand().ask(DeviceSlots::words);
        if (answer.ending() != DeviceAnswer.Ending.LISTED) {
            notes.add("cannot list devices: " + answer.reason());
        }
        return ofOneBackend(answer.devices().stream()
                .filter(words -> words.startsWith("gpu "))
                .toList());
    }

    /** Removes the GPUs of CUDA if OpenCL also lists those of NVIDIA: they are the same. */
    static List<String> ofOneBackend(List<String> gpus) {
        boolean openCl = gpus.stream().map(DeviceSlots::gpu).anyMatch(gpu -> gpu.isNvidia() && !isCuda(gpu.choice()));
        return gpus.stream()
                .filter(words -> !openCl || !isCuda(gpu(words).choice()))
                .toList();
    }

    private static boolean isCuda(String choice) {
        return choice.startsWith(CUDA);
    }

    private static String words(JsonObject device) {
        String index = device.get("index").getAsString();
        String choice = device.get("backend").getAsString().equals("cuda") ? CUDA + index : index;
        return device.get("kind").getAsString() + " " + choice + " "
                + device.get("platform").getAsString();
    }

    private static Gpu gpu(String words) {
        String[] parts = words.split(" ", 3);
        return new Gpu(parts[1], parts[2].toLowerCase(Locale.ROOT).contains("nvidia"));
    }
}
