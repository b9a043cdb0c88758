package io.lendstream.core.state;

import io.lendstream.core.id.Tenant;
import java.util.ArrayList;
import java.util.List;

/**
 * Under which names agents showed the last tenant of a unit while it ran there. Such a name is one process, pod or job
 * of a cluster: what has it later is taken for the same.
 *
 * @param tenant the tenant
 * @param users the names, in the order in which they were first seen; a few
 */
public record SeenUsers(Tenant tenant, List<String> users) {
    /** The most that are kept, so that a state stays small: mostly it is one. */
    private static final int MOST = 8;

    public SeenUsers {
        users = List.copyOf(users.subList(0, Math.min(users.size(), MOST)));
    }

    /** With the names that are shown now. The oldest that are not make room for new ones. */
    public SeenUsers and(List<String> shown) {
        List<String> all = new ArrayList<>(users);
        shown.stream().filter(user -> !all.contains(user)).forEach(all::add);
        for (String user : users) {
            if (all.size() > MOST && !shown.contains(user)) {
                all.remove(user);
            }
        }
        return new SeenUsers(tenant, all);
    }

    /** Whether the tenant had a name. */
    public boolean has(String user) {
        return users.contains(user);
    }
}
