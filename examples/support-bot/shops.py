"""The four made-up shops, what they sell, who delivers it, and what can go wrong."""

from __future__ import annotations

SHOPS: dict[str, tuple[str, list[str]]] = {
    "Pinewhistle Outdoor": (
        "PW",
        [
            "Ridgeback 40 litre rucksack",
            "Emberfold camp stove",
            "two-person Larkspan tent",
            "Nightjar head torch",
            "pair of Fellside walking boots, size 42",
            "Brookline rain jacket in moss green",
            "insulated Tarn flask",
            "merino Hush base layer, medium",
            "Cairn trekking poles",
            "Dewpoint sleeping bag",
            "folding Perch chair",
            "set of Harrow tent pegs",
            "Stillwater filter bottle",
            "Gorse wool hat",
            "Bracken gaiters",
            "Lodestar compass",
            "inflatable Drift mat",
            "Kestrel dry bag, 20 litres",
        ],
    ),
    "Ottobean Coffee": (
        "OB",
        [
            "kilo of Harbour Blend beans",
            "Night Ferry decaf, 500 g",
            "Otto hand grinder",
            "Gooseneck pouring kettle",
            "box of 100 paper filters, size 4",
            "three-cup moka pot",
            "Slow Sunday single origin",
            "milk frother",
            "ceramic dripper in chalk white",
            "Quay espresso roast, 2 x 250 g",
            "barista scale with timer",
            "descaling kit",
            "glass server, 600 ml",
            "tasting box of six roasts",
            "cold brew jug",
            "tamper, 58 mm",
        ],
    ),
    "Tallow & Thread": (
        "TT",
        [
            "linen duvet cover, 200 x 220",
            "set of two percale pillowcases",
            "goose-feather winter duvet",
            "waffle bath towel in rust",
            "organic cotton fitted sheet, 160 x 200",
            "knitted Moor throw",
            "wool mattress topper",
            "kapok pillow, soft",
            "children's quilt with foxes",
            "bamboo muslin blanket",
            "jacquard table runner",
            "hemp curtain panel, 260 cm",
            "bath mat in sage",
            "lavender sachets, pack of five",
            "blackout roller blind",
            "flannel sheet set in grey check",
        ],
    ),
    "Brightkiln Kitchen": (
        "BK",
        [
            "cast iron casserole, 5 litres, blue",
            "set of four stoneware bowls",
            "carbon steel pan, 28 cm",
            "bread proving basket",
            "Slate chef's knife, 20 cm",
            "end-grain chopping board",
            "copper milk pan",
            "enamel pie dish",
            "mandoline slicer",
            "salt pig with spoon",
            "espresso cups, set of six",
            "rolling pin in beech",
            "steam basket",
            "digital oven thermometer",
            "cake tin, 23 cm",
            "pepper mill in walnut",
            "storage jars, set of three",
        ],
    ),
}

CARRIERS = ["Parcelwren", "Swiftmoor", "Greenline Post", "Ferrier Express"]
PLACES = [
    "with the neighbour on the ground floor",
    "in the bike shed",
    "at the reception of the office",
    "behind the side gate",
    "in the parcel box by the garage",
    "with the bakery next door",
    "on the covered porch",
    "at the pick-up point by the station",
]
REASONS = [
    "it is smaller than it looks in the photos",
    "the colour is not the one on the website",
    "it was a present that came too late",
    "it had been ordered twice by mistake",
    "a cheaper one turned up elsewhere",
    "it looks as if it had been used before",
    "it smells of solvent even after airing",
    "a part of it is missing",
]
DAMAGES = [
    "a scratch along one side",
    "a dent that cannot be missed",
    "a torn outer box and scuffs on the surface",
    "a small part missing",
    "a stain that does not come off",
    "water marks on the packaging",
    "the wrong colour inside the right box",
    "a crack at the edge",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
PLANS = ["every two weeks", "monthly", "every six weeks", "once a quarter"]
TIERS = ["bronze", "silver", "gold"]


SUBSCRIPTIONS = {
    "Pinewhistle Outdoor": ["water filter cartridges", "trail snack box", "proofing spray refill"],
    "Ottobean Coffee": ["Harbour Blend beans", "Night Ferry decaf", "paper filters", "tasting box of six roasts"],
    "Tallow & Thread": ["lavender sachet refill", "linen swatch box", "wool wash"],
    "Brightkiln Kitchen": ["spice box of the season", "knife sharpening service", "sourdough flour parcel"],
}
