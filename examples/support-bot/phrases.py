"""What the support bot writes down, by topic; `{…}` are filled in by `memories.py`."""

from __future__ import annotations

from typing import TypeAlias

Topic: TypeAlias = tuple[list[str], list[str]]
"""Sentences that say the fact, and sentences that may follow."""

ENGLISH: dict[str, Topic] = {
    "order": (
        [
            "Ordered the {item} from {shop} on {date}, order {order}, total {amount} EUR.",
            "Order {order} was placed on {date}: {item}. Paid {amount} EUR by card.",
            "Customer bought the {item} ({order}) and chose standard shipping with {carrier}.",
            "{order} contains the {item} and the {other}. The {other} ships separately from another warehouse.",
            "Placed {order} over the phone because the checkout kept rejecting the card; there was one {item} left.",
            "Changed order {order} before dispatch: the {item} stays, the {other} was taken off again.",
            "Added gift wrapping to {order} ({item}). The card should say happy birthday, nothing else.",
            "Pre-ordered the {item} as {order}. {shop} expects it back in stock around {later}.",
        ],
        [
            "Invoice went to the address on the account.",
            "Wanted to know whether assembly instructions are included; they are.",
            "A voucher of 10 EUR was applied.",
            "It is meant as a present, so no prices in the parcel, please.",
            "Confirmation mail had landed in spam.",
            "Second order of the same thing this year.",
        ],
    ),
    "delivery": (
        [
            "Order {order} is late. {carrier} has said 'out for delivery' since {day}, and the {item} has not come.",
            "{carrier} marked {order} as delivered on {date}, but the customer never got the {item}.",
            "The parcel with the {item} ({order}) arrived with {damage}. Photos were sent in the chat.",
            "Half of {order} is missing: the {item} came, the {other} did not. Tracking shows a single parcel.",
            "{carrier} tried to deliver {order} twice while nobody was home. The third attempt is booked for {day}.",
            "{order} went back to the warehouse because the label was unreadable. The {item} will be sent again.",
            "Customer collected {order} from the pick-up point on {date} after {carrier} left no card.",
            "Received somebody else's parcel instead of {order}. Tracking says the {item} is still on its way.",
            "The {item} from {order} sat in customs for nine days; released on {date}.",
        ],
        [
            "Was annoyed, but friendly about it.",
            "An enquiry was opened with {carrier}, answer within three working days.",
            "Needs it before the weekend because of a trip.",
            "Asked for a call from the driver next time.",
            "This is the second delivery problem within a few months.",
            "Offered free express shipping on the replacement; the customer accepted.",
        ],
    ),
    "return": (
        [
            "Wants to return the {item} from {order} because {reason}.",
            "Return label for {order} was sent on {date}. The {item} is to go back unused and in its box.",
            "The returned {item} ({order}) reached the warehouse on {date}; {amount} EUR go back to the card.",
            "Exchange agreed: the {item} from {order} against the {other}. The customer pays {small} EUR more.",
            "Refund for {order} was split: {small} EUR to the gift card, the rest to the bank account.",
            "Keeps the {item} from {order} after a discount of {small} EUR, although {reason}.",
            "Asked twice how long a refund takes. {order} came in on {date}; the bank needs up to five working days.",
            "The return of {order} was refused at first since the 30 days were over. Made an exception: {reason}.",
        ],
        [
            "No printer at home, so a QR code for the counter was issued.",
            "Will drop it off on {day}.",
            "The original packaging is gone.",
            "Asked not to be called about it.",
            "Would order again in another size.",
        ],
    ),
    "preference": (
        [
            "Prefers to be contacted by email, never by phone.",
            "Wants short answers without marketing phrases, and the tracking link first.",
            "Prefers {carrier} over every other carrier because the depot is around the corner.",
            "Does not want plastic packaging; paper is fine even if it takes a day longer.",
            "Buys fragrance-free things only, because of an allergy.",
            "Likes to hear about sales at {shop}, but not more than once a month.",
            "Usually shops for two households and wants separate invoices.",
            "Favourite colours are dark green and rust. Has no use for anything white.",
            "Vegan, so no feathers, wool or leather in recommendations.",
            "Writes late in the evening and does not expect an answer before the next morning.",
            "Wants all parcels bundled into one shipment, even when that delays the first item.",
            "Prefers refunds to the gift card, since it is quicker than the bank.",
        ],
        [
            "Said so again in the last chat.",
            "Please keep to it for the whole household.",
            "This replaces what was noted before.",
            "Mentioned it while asking about {order}.",
        ],
    ),
    "address": (
        [
            "Parcels may be left {place} when nobody opens.",
            "Deliveries should go to the office on weekdays and home on Saturdays.",
            "The doorbell is broken. Drivers have to knock, or leave parcels {place}.",
            "Moved in {month}; the old flat must not be used any more, not even for invoices.",
            "Third floor without a lift, so anything bulky needs two people. Last time, with {order}, one came alone.",
            "The street is closed for building works until the end of {month}. {carrier} can stop at the corner.",
            "Billing stays with the employer, shipping goes home. Do not mix them up again, as happened with {order}.",
        ],
        [
            "The account has been updated.",
            "Tell {carrier} as well, their driver keeps ignoring it.",
            "Confirmed on {date}.",
            "The dog barks but does nothing.",
        ],
    ),
    "subscription": (
        [
            "Subscription to the {item} from {shop}, {plan}, {amount} EUR each time.",
            "Paused the subscription on {date} because there is still plenty of it ({item}) at home.",
            "Moved from the old plan to deliveries {plan}. Next one leaves on {later}.",
            "Wants to skip one delivery of the {item} and go on as usual afterwards.",
            "Cancelled the {shop} subscription on {date}, it had become too expensive. Might come back in autumn.",
            "Upgraded the {item} subscription to twice the amount from {later} on.",
            "The subscription renewed although it had been paused; {amount} EUR were paid back on {date}.",
        ],
        [
            "Payment by direct debit.",
            "Shipping is free at this interval.",
            "Asked to be reminded three days before each delivery.",
            "The loyalty discount of 8 percent stays.",
        ],
    ),
    "ticket": (
        [
            "Ticket {ticket} is open: the {item} from {order} has {damage}. Waiting for the workshop.",
            "Opened ticket {ticket} on {date} because the invoice for {order} shows the wrong tax rate.",
            "{ticket} went to second level. The customer cannot log in since the password reset on {date}.",
            "Ticket {ticket}: charged twice for {order}, {amount} EUR each. Accounting confirmed the duplicate.",
            "Closed {ticket} after the customer confirmed that the spare part for the {item} fits.",
            "{ticket} is about a missing leaflet for the {item}. A PDF was sent, the printed one follows.",
            "Reopened {ticket}: the replacement {item} shows the same fault, {damage}.",
        ],
        [
            "Last answer from our side on {date}.",
            "Priority was raised by the shift lead.",
            "Customer wants an update even if nothing has happened.",
            "Please do not ask for the photos again, they are attached.",
        ],
    ),
    "promise": (
        [
            "Promised to write by {day} with news about {order}.",
            "I told the customer that the {item} will be replaced free of charge if the repair fails.",
            "Promised a voucher of {small} EUR for the trouble with {order}; it has not been sent yet.",
            "Agreed to hold the {item} in the warehouse until {later}.",
            "Said that shipping for the next order will be free, because {carrier} lost {order}.",
            "Promised a callback on {day} between nine and eleven.",
            "Told the customer we match the price of the {item} if it drops before {later}.",
        ],
        [
            "Must not be forgotten, it is the second promise in this matter.",
            "Noted in the order as well.",
            "The customer asked to have it in writing; done.",
            "Depends on the warehouse confirming.",
        ],
    ),
    "product": (
        [
            "Has owned the {item} from {shop} since {month} and is happy with it.",
            "Asked whether the {item} and the {other} belong to the same series. They do.",
            "Is looking for something like the {item}, only simpler and below {amount} EUR.",
            "Reported that the {item} shows wear after a few weeks. {shop} wants to see a picture.",
            "Compared the {item} with the {other} and decided for the former because of the guarantee.",
            "Wanted care instructions for the {item}; the leaflet was sent as a PDF.",
            "Wished for the {item} in another colour; {shop} plans it for {month}.",
        ],
        [
            "Would write a review if asked.",
            "Found the answer in the handbook afterwards.",
            "Recommended it to colleagues.",
            "Bought it for the cabin, not for home.",
        ],
    ),
    "account": (
        [
            "Account email is {email}. The old address bounces.",
            "Reached {tier} in the loyalty programme on {date}; free returns are included.",
            "Two accounts exist for this customer. The one with {email} is the right one, the other will be merged.",
            "Two-step login was switched on after a suspicious sign-in on {date}.",
            "Invoices have to carry the VAT number of the company, and go to {email}.",
            "Gift card balance is {amount} EUR, after {small} EUR were used for {order}.",
            "Unsubscribed {email} from the newsletter but wants order mails to go on.",
        ],
        [
            "Identity was checked with the last order number.",
            "Customer was fine with the data being corrected.",
            "Nothing else on the account has changed.",
        ],
    ),
    "temporary": (
        [
            "Is travelling until {until}; nothing should be delivered before that.",
            "Voucher {voucher} over {small} EUR is valid until {until}.",
            "The {item} is reserved for this customer until {until}.",
            "Uses a temporary delivery address until {until}; leave parcels {place}.",
            "Express upgrade for {order} stays free of charge until {until}.",
            "Can only be reached in the mornings until {until}, because of shift work.",
        ],
        [
            "After that everything is as before.",
            "A reminder was asked for.",
            "Agreed in chat on {date}.",
        ],
    ),
}

OTHERS: dict[str, dict[str, Topic]] = {
    "de": {
        "order": (
            [
                "Bestellung {order} vom {date}: {item}, {amount} EUR, Versand mit {carrier}.",
                "Hat bei {shop} nachbestellt ({order}): noch einmal {item}, diesmal als Geschenk verpackt.",
            ],
            ["Rechnung bitte per E-Mail.", "Lieferung gern gesammelt."],
        ),
        "delivery": (
            [
                "Lieferung {order} ist überfällig, die Sendungsverfolgung von {carrier} steht seit {date} still.",
                "Paket zu {order} wurde beschädigt zugestellt: {item}. Fotos liegen vor, Ersatz ist zugesagt.",
            ],
            ["War verständlicherweise verärgert.", "Braucht die Ware vor dem Wochenende."],
        ),
        "preference": (
            [
                "Möchte gesiezt werden und Antworten nur per E-Mail bekommen.",
                "Wünscht Lieferung an die Packstation, nie an die Haustür.",
            ],
            ["Das gilt für alle Bestellungen.", "Hat das am {date} noch einmal betont."],
        ),
    },
    "fr": {
        "order": (
            [
                "Commande {order} passée le {date} : {item}, {amount} EUR, livraison par {carrier}.",
                "A commandé chez {shop} ({order}) ; souhaite un emballage cadeau pour : {item}.",
            ],
            ["Facture à envoyer par e-mail.", "Deuxième commande de l’année."],
        ),
        "delivery": (
            [
                "Le colis {order} n’est pas arrivé, le suivi {carrier} est bloqué depuis le {date}.",
                "Colis {order} reçu abîmé : {item}. Un remplacement a été promis.",
            ],
            ["Reste aimable malgré le retard.", "En a besoin avant le week-end."],
        ),
        "preference": (
            ["Préfère être contacté par e-mail, jamais par téléphone.", "Ne veut pas d’emballage plastique."],
            ["Répété le {date}.", "Valable pour tout le foyer."],
        ),
    },
    "es": {
        "order": (
            [
                "Pedido {order} del {date}: {item}, {amount} EUR, envío con {carrier}.",
                "Compró en {shop} ({order}): {item}. Quiere la factura a nombre de la empresa.",
            ],
            ["Pagó con tarjeta.", "Es el segundo pedido de este año."],
        ),
        "delivery": (
            [
                "El pedido {order} no ha llegado; el seguimiento de {carrier} no se mueve desde el {date}.",
                "El paquete {order} llegó con daños: {item}. Se ha prometido un reemplazo.",
            ],
            ["Lo necesita antes del fin de semana.", "Pidió que le avisen por correo."],
        ),
        "preference": (
            [
                "Prefiere que le escriban por correo, no por teléfono.",
                "Quiere todos los envíos juntos, aunque tarden más.",
            ],
            ["Lo repitió el {date}.", "Vale para toda la casa."],
        ),
    },
}
