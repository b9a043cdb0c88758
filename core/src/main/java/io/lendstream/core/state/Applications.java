package io.lendstream.core.state;

import io.lendstream.core.persistent.Derived;
import io.lendstream.core.persistent.PersistentMap;
import java.util.Optional;

/**
 * The applications of a domain whose ended jobs are forgotten.
 *
 * @param byName what their jobs taught
 * @param byUse their names in the order of their last use
 */
public record Applications(
        PersistentMap<String, ApplicationTraits> byName,
        @Derived PersistentMap<DueKey<String>, String> byUse) {
    public static final Applications NONE = new Applications(PersistentMap.empty());

    /** Applications whose order is made from scratch. */
    public Applications(PersistentMap<String, ApplicationTraits> byName) {
        this(byName, inOrder(byName));
    }

    private static PersistentMap<DueKey<String>, String> inOrder(PersistentMap<String, ApplicationTraits> byName) {
        PersistentMap<DueKey<String>, String> order = PersistentMap.empty();
        for (ApplicationTraits each : byName.values()) {
            order = order.put(each.use(), each.application());
        }
        return order;
    }

    public int size() {
        return byName.size();
    }

    public Optional<ApplicationTraits> find(String name) {
        return byName.get(name);
    }

    /** With newer traits of an application, in place of its older ones. */
    public Applications with(ApplicationTraits next) {
        Optional<DueKey<String>> before = byName.get(next.application()).map(ApplicationTraits::use);
        return new Applications(
                byName.put(next.application(), next), ClusterIndex.moved(byUse, before, Optional.of(next.use())));
    }

    /** Without an application. */
    public Applications without(String name) {
        return byName.get(name)
                .map(known -> new Applications(byName.remove(name), byUse.remove(known.use())))
                .orElse(this);
    }
}
