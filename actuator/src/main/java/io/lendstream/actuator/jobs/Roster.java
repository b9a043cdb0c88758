package io.lendstream.actuator.jobs;

import io.lendstream.core.id.JobId;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** All workers of an elastic job, with or without a seat in the group, in the order of their start. */
final class Roster {
    private final JobId job;
    private final Map<String, Member> members = new LinkedHashMap<>();

    Roster(JobId job) {
        this.job = job;
    }

    void add(Member member) {
        members.put(member.name(), member);
    }

    Optional<Member> remove(String name) {
        return Optional.ofNullable(members.remove(name));
    }

    /** The worker of this name, which must exist. */
    Member get(String name) {
        Member member = members.get(name);
        if (member == null) {
            throw new IllegalStateException("job %s has no worker %s".formatted(job, name));
        }
        return member;
    }

    List<Member> get(Collection<String> names) {
        return names.stream().map(this::get).toList();
    }

    boolean has(String name) {
        return members.containsKey(name);
    }

    boolean hasAll(Collection<String> names) {
        return members.keySet().containsAll(names);
    }

    /** A copy, so that workers may be removed meanwhile. */
    List<Member> all() {
        return List.copyOf(members.values());
    }
}
