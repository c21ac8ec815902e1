package dev.larder.command.doctor;

/** Reports the number of memory nodes that arrays are spread over. */
final class MemoryNodesCheck implements Check {
    private static final String NODES = "/sys/devices/system/node/has_memory";

    @Override
    public String name() {
        return "memory-nodes";
    }

    @Override
    public Finding look(Machine machine) {
        String nodes = machine.text(NODES).orElse("0");
        return nodes.isEmpty() || nodes.matches("\\d+")
                ? Finding.ok(name(), "one")
                : Finding.info(
                        name(),
                        "nodes=" + nodes + ": a load spreads pages over all of them, so part of every read is remote",
                        "numactl --cpunodebind=0 --membind=0 larder serve, if all readers run on one node");
    }
}
