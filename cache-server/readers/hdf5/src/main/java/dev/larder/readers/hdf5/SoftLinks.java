package dev.larder.readers.hdf5;

import dev.larder.readers.hdf5.GroupMembers.Member;
import io.jhdf.ObjectHeader;
import io.jhdf.object.message.DataSpaceMessage;
import io.jhdf.object.message.DataTypeMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Follows soft links to the objects of the same file. */
final class SoftLinks {
    /** The links that HDF5 follows by default to open one object. */
    private static final int MOST_LINKS = 16;

    private final HdfBackingStorage file;
    private final long root;
    private final Map<Long, Map<String, Member>> members = new HashMap<>();

    SoftLinks(HdfBackingStorage file, long root) {
        this.file = file;
        this.root = root;
    }

    /** Returns the members of a group by their names, in their order. */
    Map<String, Member> members(long group) {
        Map<String, Member> known = members.get(group);
        if (known == null) {
            known = new LinkedHashMap<>();
            for (Member member : GroupMembers.of(file, ObjectHeader.readObjectHeader(file, group))) {
                known.put(member.name(), member);
            }
            members.put(group, known);
        }
        return known;
    }

    /** Returns the object that a member of a group is or leads to, under the name of the member; else a link whose words have the reason. */
    Member followed(long group, Member member) {
        Member found = follow(group, member, 0);
        return new Member(member.name(), found.link(), null, found.address());
    }

    private Member follow(long group, Member member, int links) {
        String target = member.target();
        if (target == null) {
            return member;
        } else if (links == MOST_LINKS) {
            return broken(member, "leads to more than " + MOST_LINKS + " other links");
        }
        Member at = Member.object("", target.startsWith("/") ? root : group);
        for (String name : target.split("/", -1)) {
            if (name.isEmpty() || name.equals(".")) {
                continue;
            }
            long inner = at.address();
            Member next = isGroup(inner) ? members(inner).get(name) : null;
            if (next == null) {
                return broken(member, "leads to nothing");
            }
            at = follow(inner, next, links + 1);
            if (at.link() != null) {
                return broken(member, "leads to " + at.link());
            }
        }
        return at;
    }

    private boolean isGroup(long address) {
        ObjectHeader header = ObjectHeader.readObjectHeader(file, address);
        return !header.hasMessageOfType(DataSpaceMessage.class) && !header.hasMessageOfType(DataTypeMessage.class);
    }

    private static Member broken(Member member, String reason) {
        return new Member(member.name(), member.link() + ", which " + reason, null, 0);
    }
}
