package dev.larder.command.doctor;

import dev.larder.internal.posix.MemoryPolicy;
import dev.larder.internal.protocol.DaemonStatus;

/** Reports the memory nodes, and the daemon's policy for them. */
final class MemoryNodesCheck implements Check {
    private static final String NODES = "/sys/devices/system/node/has_memory";

    @Override
    public String name() {
        return "memory-nodes";
    }

    @Override
    public Finding look(Machine machine) {
        String nodes = machine.text(NODES).orElse("0");
        if (nodes.isEmpty() || nodes.matches("\\d+")) {
            return Finding.ok(name(), "one");
        }
        String policy = machine.probes()
                .status(machine.store())
                .map(DaemonStatus::memoryPolicy)
                .orElse("interleave:" + nodes);
        String found = "nodes=" + nodes + " policy=" + policy;
        return MemoryPolicy.parse(policy).isSpread()
                ? Finding.info(
                        name(),
                        found + ": data is spread over all of them, so part of every read is remote",
                        "numactl --cpunodebind=0 larder serve --numa local, if all readers run on one node")
                : Finding.info(
                        name(),
                        found + ": data is not spread, so readers on other nodes read all of it from remote",
                        "larder serve --numa interleave, if readers run on several nodes");
    }
}
