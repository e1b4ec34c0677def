#!/usr/bin/env perl
# An agent written from agents/PROTOCOL.md alone. Its seed selects one of the legal moves.
use strict;
use warnings;
use JSON::PP;

$| = 1;
my $json = JSON::PP->new->utf8;
my %hello = (
    type     => 'hello',
    protocol => 1,
    name     => 'lines',
    version  => '1.0.0',
    bots     => [
        { name => 'lines', deterministic => JSON::PP::true, uses_seed => 'yes' },
    ],
    omit_move_details => JSON::PP::true,
);

sub choose {
    my ($decision) = @_;
    my $legal = $decision->{legal_moves};
    # The seed has 64 bits, so that it is a string: divide digit by digit.
    my $rest = 0;
    $rest = ($rest * 10 + $_) % @$legal for split //, $decision->{seed};
    return $legal->[$rest];
}

sub answer {
    my ($message) = @_;
    my @moves = map { choose($_) } @{ $message->{decisions} };
    return { type => 'answer', batch => $message->{batch}, moves => \@moves };
}

while (my $line = <STDIN>) {
    my $message = $json->decode($line);
    my $type    = $message->{type};
    my $answer  = $type eq 'hello' ? \%hello : $type eq 'ask' ? answer($message) : undef;
    print $json->encode($answer), "\n" if $answer;
}
