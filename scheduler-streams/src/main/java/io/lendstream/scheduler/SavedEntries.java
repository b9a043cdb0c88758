package io.lendstream.scheduler;

import io.lendstream.core.event.Node;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.ServiceId;
import io.lendstream.core.state.Advice;
import io.lendstream.core.state.ServiceState;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A cache of entries as last saved, so that unchanged entries are not written with every step. */
final class SavedEntries {
    final Map<DomainId, Optional<Advice>> advice = new HashMap<>();
    final Map<DomainId, DomainHeader> headers = new HashMap<>();
    final Map<DomainId, Map<ServiceId, ServiceState>> services = new HashMap<>();
    final Map<DomainId, Map<NodeId, Node>> nodes = new HashMap<>();
}
