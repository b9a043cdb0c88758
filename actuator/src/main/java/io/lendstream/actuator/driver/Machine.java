package io.lendstream.actuator.driver;

import io.lendstream.core.id.NodeId;

/**
 * This machine, as others reach it for jobs over several machines.
 *
 * @param node the node that it is
 * @param ports where workers of one job meet; the same on all machines
 */
public record Machine(NodeId node, RendezvousPorts ports) {}
