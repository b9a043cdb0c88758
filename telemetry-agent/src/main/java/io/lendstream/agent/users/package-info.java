/** The users of a node's GPUs: pods from the kubelet, and Slurm jobs from their processes' control groups. */
@NullMarked
package io.lendstream.agent.users;

import org.jspecify.annotations.NullMarked;
