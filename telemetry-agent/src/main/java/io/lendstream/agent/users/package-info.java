/**
 * The users of a node's GPUs: pods from the kubelet, Slurm jobs from their processes' control groups, and other
 * processes by themselves.
 */
@NullMarked
package io.lendstream.agent.users;

import org.jspecify.annotations.NullMarked;
