package dev.larder.cluster;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** The places of nodes among each other, from one round to the next. */
final class NodePlaces {
    private NodePlaces() {}

    /** Leaves nodes where they were, as far as there are places, so that they have their shards; others fill the gaps. */
    static List<Member> kept(List<Member> chosen) {
        Map<Integer, Member> kept = new HashMap<>();
        List<Member> others = new ArrayList<>();
        for (Member member : chosen) {
            boolean hasPlace = member.node() >= 0 && member.node() < chosen.size();
            if (!hasPlace || kept.putIfAbsent(member.node(), member) != null) {
                others.add(member);
            }
        }
        Iterator<Member> next = others.iterator();
        List<Member> ordered = new ArrayList<>();
        for (int node = 0; node < chosen.size(); node++) {
            Member member = kept.get(node);
            ordered.add(member == null ? next.next() : member);
        }
        return ordered;
    }
}
