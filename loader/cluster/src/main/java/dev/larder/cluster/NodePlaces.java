package dev.larder.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Assigns places to nodes from one round to the next. */
final class NodePlaces {
    private NodePlaces() {}

    /** Keeps the places of nodes, which have loaded their shards, as far as there are places; other nodes fill the gaps. */
    static List<RunNode> kept(List<RunNode> chosen) {
        Map<Integer, RunNode> kept = new HashMap<>();
        List<RunNode> others = new ArrayList<>();
        for (RunNode member : chosen) {
            boolean hasPlace = member.node() >= 0 && member.node() < chosen.size();
            if (!hasPlace || kept.putIfAbsent(member.node(), member) != null) {
                others.add(member);
            }
        }
        Iterator<RunNode> next = others.iterator();
        List<RunNode> ordered = new ArrayList<>();
        for (int node = 0; node < chosen.size(); node++) {
            RunNode member = kept.get(node);
            ordered.add(member == null ? next.next() : member);
        }
        return ordered;
    }
}
